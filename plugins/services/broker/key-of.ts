import { createHash } from 'node:crypto';

/** What tells settings apart without showing them: plain data, with passwords as they are. */
export function keyOf(settings: unknown): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('base64');
}
