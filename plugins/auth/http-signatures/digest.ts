import { createHash, timingSafeEqual } from 'node:crypto';
import { readBytes } from './structured.ts';

const hashes = { 'sha-512': 'sha512', 'sha-256': 'sha256' } as const;

/** Creates a `Content-Digest` (RFC 9530). */
export function contentDigest(body: Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
}

/** Whether a body has the digest of its `Content-Digest`: all known algorithms must match, and at least one. */
export function hasDigest(body: Uint8Array, header: string): boolean {
  const digests = readBytes(header);
  if (!digests) return false;
  const known = Object.entries(hashes).filter(([name]) => digests.has(name));
  return (
    known.length > 0 &&
    known.every(([name, hash]) => {
      const expected = createHash(hash).update(body).digest();
      const given = digests.get(name)!;
      return given.length === expected.length && timingSafeEqual(given, expected);
    })
  );
}
