import { hash } from 'node:crypto';

/** SHA-256 of a file's bytes, in lower-case hexadecimal. */
export function contentHash(bytes: Uint8Array): string {
  return hash('sha256', bytes);
}

/**
 * SHA-256 of what a directory holds: the names of its entries, whatever their order. Names that begin with a dot or end
 * with a tilde do not count: editors, and orchestrators that mount files, keep their own things under such names.
 */
export function listingHash(names: readonly string[]): string {
  const counted = names.filter((name) => !name.startsWith('.') && !name.endsWith('~')).sort();
  return hash('sha256', `directory\0${counted.join('\0')}`);
}
