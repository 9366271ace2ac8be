import { promisify } from 'node:util';
import { constants, createGzip, gzip } from 'node:zlib';
import { ByteStream, CancelledError } from '#contract';
import type { Answer } from '../pipeline/render.ts';

/** Shorter bodies are not worth it (decision 20). */
const SMALLEST_BYTES = 1024;

/** Half the time of the default level, for a few per cent more bytes. */
const LEVEL = 4;

const streamTypes = /^(?:text\/event-stream|application\/(?:x-ndjson|vnd\.amazon\.eventstream|grpc))/i;

/** What may be compressed though nobody knows how long it is going to be. */
const textTypes = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|javascript|yaml)|image\/svg)/i;

const gzipWhole = promisify(gzip);

/** True when a response may and should be compressed for a client that wants it (routing rule 15). */
export function isCompressible(status: number, headers: readonly string[], body: Answer['body']): boolean {
  if (body === null || status < 200 || status === 204 || status === 206 || status === 304) return false;
  let length: number | undefined;
  let isText = false;
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1]!;
    switch (headers[at]!.toLowerCase()) {
      case 'content-encoding':
      case 'content-range':
        return false;
      case 'content-type':
        if (streamTypes.test(value)) return false;
        isText = textTypes.test(value);
        break;
      case 'cache-control':
        if (/\bno-transform\b/i.test(value)) return false;
        break;
      case 'content-length':
        length = Number(value);
        break;
    }
  }
  if (!(body instanceof ByteStream)) return Buffer.byteLength(body) >= SMALLEST_BYTES;
  return length === undefined ? isText : length >= SMALLEST_BYTES;
}

/** The answer with its body compressed. A stream is passed on as it comes: what was written is never held back. */
export function compress(answer: Answer): Answer | Promise<Answer> {
  const { status, headers, body } = answer;
  if (body instanceof ByteStream && !body.arrived) {
    describeGzip(headers);
    return { status, headers, body: compressStream(body) };
  }
  const whole = body instanceof ByteStream ? (body.collect(Number.POSITIVE_INFINITY) as Uint8Array) : body!;
  if (Buffer.byteLength(whole) < SMALLEST_BYTES) return { status, headers, body: whole };
  describeGzip(headers);
  return compressBytes(whole).then((packed) => ({ status, headers, body: packed }));
}

/** All bytes of a body, compressed off the event loop. */
export function compressBytes(body: string | Uint8Array): Promise<Buffer> {
  return gzipWhole(body, { level: LEVEL });
}

/** A compressor for bytes that come bit by bit: what goes in comes out at once. */
export function createStreamGzip() {
  return createGzip({ level: LEVEL, flush: constants.Z_SYNC_FLUSH });
}

function compressStream(body: ByteStream): ByteStream {
  const packer = createStreamGzip();
  const packed = ByteStream.from(packer);
  packer.on('drain', () => body.resume());
  packer.once('close', () => body.cancel(new CancelledError()));
  body.flow({
    write: (chunk) => packer.write(chunk),
    end: () => packer.end(),
    fail: (error) => packer.destroy(error),
  });
  return packed;
}

/** Changes headers so that they describe the compressed body. */
function describeGzip(headers: string[]): void {
  let varies = false;
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    switch (headers[at]!.toLowerCase()) {
      case 'content-length':
        headers.splice(at, 2);
        break;
      case 'etag':
        headers[at + 1] = weakTag(headers[at + 1]!);
        break;
      case 'vary':
        varies ||= /(?:^|[\s,])(?:accept-encoding|\*)(?:[\s,]|$)/i.test(headers[at + 1]!);
        break;
    }
  }
  headers.push('Content-Encoding', 'gzip');
  if (!varies) headers.push('Vary', 'Accept-Encoding');
}

/** Other bytes of the same resource: the tag of the plain ones holds only loosely. */
export function weakTag(tag: string): string {
  return tag.startsWith('"') ? `W/${tag}` : tag;
}
