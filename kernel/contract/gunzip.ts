import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { BackendError } from './errors.ts';
import type { HeaderBag } from './headers.ts';

/**
 * Decompresses a complete body if its headers declare gzip; otherwise returns it unchanged.
 * @param limit maximum size of the result in bytes.
 * @throws BackendError BACKEND_GZIP, as a rejection, for invalid gzip data or a larger result.
 */
export function gunzipBody(bytes: Uint8Array, headers: HeaderBag, limit: number): Uint8Array | Promise<Uint8Array> {
  const encoding = headers.get('content-encoding')?.toLowerCase();
  if (bytes.length === 0 || (encoding !== 'gzip' && encoding !== 'x-gzip')) return bytes;
  return promisify(gunzip)(bytes, { maxOutputLength: limit }).catch((cause: Error) => {
    throw new BackendError('BACKEND_GZIP', `backend: body is not valid gzip: ${cause.message}`, { cause });
  });
}
