import { createHash, hash } from 'node:crypto';
import { scheduler } from '../contract/internal.ts';

/** SHA-256 of a file's bytes, in lower-case hexadecimal. */
export function contentHash(bytes: Uint8Array): string {
  return hash('sha256', bytes);
}

/** How much is hashed at once, in bytes. */
const CHUNK = 1 << 18;

/** As `contentHash`, in short slices. */
export async function contentHashInSlices(bytes: Uint8Array): Promise<string> {
  if (bytes.length <= CHUNK) return contentHash(bytes);
  const sum = createHash('sha256');
  await scheduler.yield();
  for (let at = 0; at < bytes.length; at += CHUNK) {
    sum.update(bytes.subarray(at, at + CHUNK));
    if (scheduler.due) await scheduler.yield();
  }
  return sum.digest('hex');
}

/**
 * SHA-256 of what a directory holds: the names of its entries, whatever their order. Names that begin with a dot or end
 * with a tilde do not count: editors, and orchestrators that mount files, keep their own things under such names.
 */
export function listingHash(names: readonly string[]): string {
  const counted = names.filter((name) => !name.startsWith('.') && !name.endsWith('~')).sort();
  return hash('sha256', `directory\0${counted.join('\0')}`);
}
