import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

const unpackers = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/**
 * Returns the bytes of a body without its `Content-Encoding`; no bytes if the encoding is unknown or the body is not
 * valid in it.
 * @param limitBytes limit for the result; no bytes beyond it.
 */
export function plainBytes(
  body: Uint8Array | Promise<Uint8Array>,
  encoding: string | undefined,
  limitBytes: number,
): Uint8Array | Promise<Uint8Array> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return body;
  const unpack = unpackers.get(name);
  const open = (bytes: Uint8Array): Promise<Uint8Array> =>
    unpack ? unpack(bytes, { maxOutputLength: limitBytes }).catch(none) : Promise.resolve(none());
  return body instanceof Promise ? body.then(open) : open(body);
}

function none(): Uint8Array {
  return new Uint8Array();
}
