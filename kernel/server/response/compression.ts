import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { ByteStream } from '#contract';
import type { RenderedReply } from '../../pipeline/response/render.ts';
import { acceptedCoding, type Coding, compressBytes, createCompressor, type Profile } from './coding.ts';

/** Smallest body worth compressing, in bytes. */
const SMALLEST_BYTES = 1024;

const streamTypes = /^(?:text\/event-stream|application\/(?:x-ndjson|vnd\.amazon\.eventstream|grpc))/i;

/** Content types that are already compressed. */
const packedTypes =
  /^(?:image\/(?!svg|bmp|x-ms-bmp)|audio\/|video\/|font\/woff|application\/(?:zip|gzip|x-7z|x-bzip|zstd|vnd\.rar|java-archive))/i;

/**
 * Whether a response may be compressed and is worth it, if the client accepts it. A stream without a length is never
 * delayed by compression.
 */
export function isCompressible(status: number, headers: readonly string[], body: RenderedReply['body']): boolean {
  if (body === null || lengthOf(body, headers) < SMALLEST_BYTES) return false;
  if (status === 204 || status === 206 || status === 304) return false;
  for (let at = 0; at < headers.length; at += 2) {
    switch (headers[at]!.toLowerCase()) {
      case 'content-encoding':
      case 'content-range':
        return false;
      case 'content-type':
        if (streamTypes.test(headers[at + 1]!) || packedTypes.test(headers[at + 1]!)) return false;
        break;
      case 'cache-control':
        if (/\bno-transform\b/i.test(headers[at + 1]!)) return false;
        break;
    }
  }
  return true;
}

/** Known length of a body, in bytes; 0 when unknown. */
function lengthOf(body: string | Uint8Array | ByteStream, headers: readonly string[]): number {
  if (!(body instanceof ByteStream)) return Buffer.byteLength(body);
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at]!.toLowerCase() === 'content-length') return Number(headers[at + 1]);
  }
  return 0;
}

/** Coding to compress a response with; null if the client accepts none, or if the response is not compressible. */
export function codingOf(response: ServerResponse, { status, headers, body }: RenderedReply): Coding | null {
  const { headers: requestHeaders, method } = response.req;
  const isPossible =
    requestHeaders['accept-encoding'] !== undefined &&
    method !== 'HEAD' &&
    isCompressible(status, headers, body) &&
    !response.hasHeader('content-encoding');
  return isPossible ? acceptedCoding(String(requestHeaders['accept-encoding'])) : null;
}

/** Returns the response with a compressed body. The response must be compressible. */
export async function compress(rendered: RenderedReply, coding: Coding, profile: Profile): Promise<RenderedReply> {
  const body = rendered.body as string | Uint8Array | ByteStream;
  const packed =
    body instanceof ByteStream ? compressStream(body, coding, profile) : await compressBytes(body, coding, profile);
  describeCoding(rendered.headers, coding);
  return { ...rendered, body: packed };
}

/** Compresses a stream as it is read. A failing source fails it; a reader that stops early cancels the source. */
function compressStream(body: ByteStream, coding: Coding, profile: Profile): ByteStream {
  return ByteStream.from(pipeline(body.readable(), createCompressor(coding, profile), ignored));
}

/** Ignores the error, because the stream reports it to its reader. */
function ignored(): void {}

/** Changes headers to describe the compressed body. The caller that writes the body sets its length. */
function describeCoding(headers: string[], coding: Coding): void {
  let varies = false;
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    const name = headers[at]!.toLowerCase();
    // A response with ranges cannot be compressed, because they would refer to the uncompressed bytes.
    if (name === 'content-length' || name === 'accept-ranges') headers.splice(at, 2);
    else if (name === 'etag') headers[at + 1] = weakTag(headers[at + 1]!);
    else if (name === 'vary') varies ||= /(?:^|[\s,])(?:accept-encoding|\*)(?:[\s,]|$)/i.test(headers[at + 1]!);
  }
  headers.push('Content-Encoding', coding);
  if (!varies) headers.push('Vary', 'Accept-Encoding');
}

/** Makes an ETag weak: compression changes the bytes, but not the resource. */
export function weakTag(tag: string): string {
  return tag.startsWith('"') ? `W/${tag}` : tag;
}
