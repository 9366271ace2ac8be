import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import { ByteStream } from '#contract';
import type { RenderedReply } from '../../pipeline/response/render.ts';

/** Smallest body worth compressing, in bytes. */
const SMALLEST_BYTES = 1024;

/** Gzip level: half the time of the default level, for a few percent more bytes. */
const LEVEL = 4;

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

/** Whether the client accepts gzip and the response is compressible. */
export function wantsGzip(response: ServerResponse, { status, headers, body }: RenderedReply): boolean {
  const { headers: asked, method } = response.req;
  return (
    asked['accept-encoding'] !== undefined &&
    method !== 'HEAD' &&
    isCompressible(status, headers, body) &&
    !response.hasHeader('content-encoding') &&
    acceptsGzip(String(asked['accept-encoding']))
  );
}

/** Returns the response with a compressed body. The response must be compressible. */
export async function compress(rendered: RenderedReply): Promise<RenderedReply> {
  const body = rendered.body as string | Uint8Array | ByteStream;
  const packed = body instanceof ByteStream ? compressStream(body) : await compressBytes(body);
  describeGzip(rendered.headers);
  return { ...rendered, body: packed };
}

/** Compresses a complete body, off the event loop. */
export function compressBytes(body: string | Uint8Array): Promise<Buffer> {
  return promisify(gzip)(body, { level: LEVEL });
}

/** Compresses a stream as it is read. A failing source fails it; a reader that stops early cancels the source. */
function compressStream(body: ByteStream): ByteStream {
  return ByteStream.from(pipeline(body.readable(), createGzip({ level: LEVEL }), ignored));
}

/** Ignores the error: the stream's reader gets it. */
function ignored(): void {}

/** Changes headers to describe the compressed body. The caller that writes the body sets its length. */
function describeGzip(headers: string[]): void {
  let varies = false;
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    const name = headers[at]!.toLowerCase();
    // Ranges would refer to the uncompressed bytes.
    if (name === 'content-length' || name === 'accept-ranges') headers.splice(at, 2);
    else if (name === 'etag') headers[at + 1] = weakTag(headers[at + 1]!);
    else if (name === 'vary') varies ||= /(?:^|[\s,])(?:accept-encoding|\*)(?:[\s,]|$)/i.test(headers[at + 1]!);
  }
  headers.push('Content-Encoding', 'gzip');
  if (!varies) headers.push('Vary', 'Accept-Encoding');
}

/** Makes an ETag weak: compression changes the bytes, but not the resource. */
export function weakTag(tag: string): string {
  return tag.startsWith('"') ? `W/${tag}` : tag;
}

/**
 * Whether an `Accept-Encoding` header accepts gzip: by name, or by `*` when gzip is not listed, and with at least the
 * weight of `identity`. An invalid weight counts as 0.
 */
export function acceptsGzip(header: string | undefined): boolean {
  if (!header) return false;
  let gzip: number | undefined;
  let any: number | undefined;
  let plain: number | undefined;
  for (const item of header.toLowerCase().split(',')) {
    const [name, ...parameters] = item.split(';').map((segment) => segment.trim()) as [string, ...string[]];
    if (name === 'gzip' || name === 'x-gzip') gzip = Math.max(gzip ?? 0, weightOf(parameters));
    else if (name === '*') any = weightOf(parameters);
    else if (name === 'identity') plain = weightOf(parameters);
  }
  const weight = gzip ?? any ?? 0;
  return weight > 0 && weight >= (plain ?? 0);
}

function weightOf(parameters: readonly string[]): number {
  const written = parameters.find((parameter) => /^q\s*=/.test(parameter));
  if (written === undefined) return 1;
  const value = written.slice(written.indexOf('=') + 1).trim();
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(value) ? Number(value) : 0;
}
