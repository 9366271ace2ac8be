import { createHash } from 'node:crypto';

/** Derives a key that identifies settings without revealing them. Takes plain data, with passwords in clear text. */
export function keyOf(settings: unknown): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('base64');
}
