import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { BackendError, ByteStream } from '#contract';

const unpackers: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

/**
 * Decompresses a stream as it arrives, with back-pressure. Fails with `BACKEND_ENCODING` when the bytes do not match
 * the encoding.
 * @param encoding the `Content-Encoding`.
 * @returns null for an unknown encoding.
 */
export function unpacked(body: ByteStream, encoding: string | undefined): ByteStream | null {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return body;
  if (!Object.hasOwn(unpackers, name)) return null;
  const unpacker = unpackers[name]!();
  const output = new ByteStream({
    resume: () => unpacker.resume(),
    cancel(reason) {
      unpacker.destroy();
      body.cancel(reason);
    },
  });
  unpacker.on('data', (chunk: Uint8Array) => output.write(chunk) || unpacker.pause());
  unpacker.on('drain', () => body.resume());
  unpacker.once('end', () => output.end());
  unpacker.once('error', (cause: Error) => {
    const failure = new BackendError('BACKEND_ENCODING', `backend: body is not valid ${name}: ${cause.message}`, {
      cause,
    });
    body.cancel(failure);
    output.fail(failure);
  });
  body.flow({
    write: (chunk) => unpacker.write(chunk),
    end: () => unpacker.end(),
    fail(error) {
      output.fail(error);
      unpacker.destroy();
    },
  });
  return output;
}
