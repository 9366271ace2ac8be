import { randomUUID } from 'node:crypto';
import type { Reply } from '#contract';

/** Maximum number of ranges per request: more would let a small request cause a large response. */
const MAX_RANGES = 16;

interface Range {
  readonly start: number;
  /** Offset of the last byte, inclusive. */
  readonly end: number;
}

/**
 * Responds to a range request: 206 with one part, or several as `multipart/byteranges`; 416 for invalid ranges or
 * ranges outside of the body. With units other than bytes, the whole body is sent.
 */
export function replyWithRange(reply: Reply, header: string, bytes: Uint8Array, contentType: string): void {
  const { headers } = reply;
  const spec = /^bytes=(.*)$/is.exec(header.trim())?.[1];
  headers.delete('content-range');
  if (spec === undefined) {
    reply.status = 200;
    return fill(reply, bytes);
  }
  const ranges = readRanges(spec, bytes.length);
  if (ranges === null) {
    reply.status = 416;
    headers.set('Content-Range', `bytes */${bytes.length}`);
    return fill(reply, new Uint8Array());
  }
  reply.status = 206;
  if (ranges.length === 1) {
    headers.set('Content-Range', contentRange(ranges[0]!, bytes));
    return fill(reply, cut(bytes, ranges[0]!));
  }
  const boundary = randomUUID();
  headers.set('Content-Type', `multipart/byteranges; boundary=${boundary}`);
  const type = contentType === '' ? '' : `Content-Type: ${contentType}\r\n`;
  const chunks = ranges.flatMap((range) => [
    Buffer.from(`--${boundary}\r\n${type}Content-Range: ${contentRange(range, bytes)}\r\n\r\n`, 'latin1'),
    cut(bytes, range),
    Buffer.from('\r\n'),
  ]);
  fill(reply, Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]));
}

/** @returns null if the ranges are invalid, too many, or all outside of the body. */
function readRanges(spec: string, length: number): Range[] | null {
  const texts = spec.split(',');
  if (texts.length > MAX_RANGES) return null;
  const ranges: Range[] = [];
  for (const text of texts) {
    const [, first, last] = /^(\d*)\s*-\s*(\d*)$/.exec(text.trim()) ?? [];
    if (first === undefined || last === undefined || (first === '' && last === '')) return null;
    if (first !== '' && last !== '' && Number(first) > Number(last)) return null;
    const start = first === '' ? Math.max(length - Number(last), 0) : Number(first);
    const end = first === '' || last === '' ? length - 1 : Math.min(Number(last), length - 1);
    if (start <= end) ranges.push({ start, end });
  }
  return ranges.length > 0 ? ranges : null;
}

function contentRange({ start, end }: Range, bytes: Uint8Array): string {
  return `bytes ${start}-${end}/${bytes.length}`;
}

function cut(bytes: Uint8Array, { start, end }: Range): Uint8Array {
  return bytes.subarray(start, end + 1);
}

function fill(reply: Reply, bytes: Uint8Array): void {
  reply.body = bytes;
  reply.headers.set('Content-Length', String(bytes.length));
}
