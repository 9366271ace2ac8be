import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions, zstdDecompress } from 'node:zlib';

/** Maximum size of a decompressed body, in bytes. */
const MAX_BYTES = 1024 * 1024;

type Decode = (body: Uint8Array, options: ZlibOptions) => Promise<Buffer>;

const decoders = new Map<string, Decode>([
  ['gzip', promisify(gunzip) as Decode],
  ['x-gzip', promisify(gunzip) as Decode],
  ['deflate', promisify(inflate) as Decode],
  ['br', promisify(brotliDecompress) as Decode],
  ['zstd', promisify(zstdDecompress) as Decode],
]);

/**
 * Decompresses a body. A body with an unknown coding is returned unchanged.
 * @returns null if the body cannot be decompressed, or exceeds the limit.
 */
export async function decodeBody(body: Uint8Array, coding = 'identity'): Promise<Uint8Array | null> {
  const decode = decoders.get(coding.trim().toLowerCase());
  if (!decode || body.length === 0) return body;
  return decode(body, { maxOutputLength: MAX_BYTES }).catch(() => null);
}
