import { createHash, hash } from 'node:crypto';
import { scheduler } from '../../contract/internal.ts';

/** SHA-256 of a file's bytes, in lowercase hexadecimal. */
export function contentHash(bytes: Uint8Array): string {
  return hash('sha256', bytes);
}

/** Size of one hashing step, in bytes. */
const CHUNK = 1 << 18;

/** Same as `contentHash`, in short time slices. */
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
 * SHA-256 of a directory's entry names, in any order. Names that begin with a dot or end with a tilde are ignored:
 * editors, and orchestrators that mount files, use such names for their own files.
 */
export function listingHash(names: readonly string[]): string {
  const counted = names.filter((name) => !name.startsWith('.') && !name.endsWith('~')).sort();
  return hash('sha256', `directory\0${counted.join('\0')}`);
}
