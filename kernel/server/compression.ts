import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ByteStream } from '#contract';
import type { Answer } from '../pipeline/render.ts';
import { acceptsGzip } from './accepts-gzip.ts';

/** Shorter bodies are not worth it. */
const SMALLEST_BYTES = 1024;

/** Half the time of the default level, for a few per cent more bytes. */
const LEVEL = 4;

const streamTypes = /^(?:text\/event-stream|application\/(?:x-ndjson|vnd\.amazon\.eventstream|grpc))/i;

const gzipWhole = promisify(gzip);

/**
 * True when a response may and should be compressed for a client that wants it. What comes as a stream
 * is never held back by it.
 */
export function isCompressible(status: number, headers: readonly string[], body: Answer['body']): boolean {
  if (body === null || body instanceof ByteStream || Buffer.byteLength(body) < SMALLEST_BYTES) return false;
  if (status === 204 || status === 206 || status === 304) return false;
  for (let at = 0; at < headers.length; at += 2) {
    switch (headers[at]!.toLowerCase()) {
      case 'content-encoding':
      case 'content-range':
        return false;
      case 'content-type':
        if (streamTypes.test(headers[at + 1]!)) return false;
        break;
      case 'cache-control':
        if (/\bno-transform\b/i.test(headers[at + 1]!)) return false;
        break;
    }
  }
  return true;
}

/** True when the client asks for an answer to be compressed that may and should be. */
export function wantsGzip(response: ServerResponse, { status, headers, body }: Answer): boolean {
  const { headers: asked, method } = response.req;
  return (
    asked['accept-encoding'] !== undefined &&
    method !== 'HEAD' &&
    isCompressible(status, headers, body) &&
    !response.hasHeader('content-encoding') &&
    acceptsGzip(String(asked['accept-encoding']))
  );
}

/** The answer, which is compressible, with its body compressed. */
export async function compress(answer: Answer): Promise<Answer> {
  const packed = await compressBytes(answer.body as string | Uint8Array);
  describeGzip(answer.headers);
  return { ...answer, body: packed };
}

/** All bytes of a body, compressed off the event loop. */
export function compressBytes(body: string | Uint8Array): Promise<Buffer> {
  return gzipWhole(body, { level: LEVEL });
}

/** Changes headers so that they describe the compressed body; its length is whoever writes it to tell. */
function describeGzip(headers: string[]): void {
  let varies = false;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!.toLowerCase();
    if (name === 'etag') headers[at + 1] = weakTag(headers[at + 1]!);
    else if (name === 'vary') varies ||= /(?:^|[\s,])(?:accept-encoding|\*)(?:[\s,]|$)/i.test(headers[at + 1]!);
  }
  headers.push('Content-Encoding', 'gzip');
  if (!varies) headers.push('Vary', 'Accept-Encoding');
}

/** Other bytes of the same resource: the tag of the plain ones holds only loosely. */
export function weakTag(tag: string): string {
  return tag.startsWith('"') ? `W/${tag}` : tag;
}
