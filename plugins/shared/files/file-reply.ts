import mime from 'mime';
import { HeaderBag, Reply } from '#contract';
import { spanOf } from '../http-headers/byte-range.ts';
import { httpDate } from '../http-headers/date.ts';
import { closeFile, type OpenFile } from './open-file.ts';
import { readBytes } from './read-file.ts';

/**
 * Replies with an open file, and closes it: 200, or 304, 206 and 416 according to `If-None-Match`, `If-Modified-Since`,
 * `If-Range` and `Range`.
 * @param asked the conditional and range headers of the request.
 * @param isHead omits the body.
 */
export async function replyWithFile(file: OpenFile, requested: HeaderBag, isHead: boolean): Promise<Reply> {
  const headers = describe(file);
  if (isUnchanged(file, headers, requested)) {
    closeFile(file.fd);
    return Reply.raw(304, headers, null);
  }
  headers.append('Accept-Ranges', 'bytes');
  headers.append('Content-Type', mediaType(file.name));
  const range = requested.get('range');
  const span = range === undefined || !mayBePartial(file, requested) ? 'whole' : spanOf(range, file.size);
  if (span === 'none') {
    closeFile(file.fd);
    return Reply.raw(416, new HeaderBag(['Content-Range', `bytes */${file.size}`]), null);
  }
  const { start, end } = span === 'whole' ? { start: 0, end: file.size } : span;
  if (span !== 'whole') headers.append('Content-Range', `bytes ${start}-${end - 1}/${file.size}`);
  headers.append('Content-Length', String(end - start));
  const status = span === 'whole' ? 200 : 206;
  if (!isHead) return Reply.raw(status, headers, await readBytes(file.fd, start, end));
  closeFile(file.fd);
  return Reply.raw(status, headers, null);
}

/** The ETag is weak, because a file may change twice without changing it. */
function describe({ size, modifiedMs }: OpenFile): HeaderBag {
  const tag = `W/"${size.toString(16)}-${Math.trunc(modifiedMs * 1000).toString(16)}"`;
  return new HeaderBag(['ETag', tag, 'Last-Modified', new Date(modifiedMs).toUTCString()]);
}

/** The modification time is compared only if the request has no condition with an ETag. */
function isUnchanged({ modifiedMs }: OpenFile, headers: HeaderBag, requested: HeaderBag): boolean {
  const tags = requested.getAll('if-none-match');
  if (tags.length > 0) {
    const own = opaque(headers.get('etag')!);
    const listed = tags.join().split(',');
    return listed.some((tag) => tag.trim() === '*' || opaque(tag) === own);
  }
  return Math.trunc(modifiedMs / 1000) * 1000 <= httpDate(requested.get('if-modified-since'));
}

function opaque(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}

/**
 * Whether a range can be served: a weak ETag guarantees nothing about individual bytes, and neither does a time within
 * the second in which the file may change again.
 */
function mayBePartial({ modifiedMs }: OpenFile, requested: HeaderBag): boolean {
  const condition = requested.get('if-range');
  if (condition === undefined) return true;
  const second = Math.trunc(modifiedMs / 1000) * 1000;
  return httpDate(condition) === second && second + 1000 <= Date.now();
}

const text = /^text\/|[/+](?:json|xml|javascript)$/;

/** Media type by file extension. */
export function mediaType(name: string): string {
  const type = mime.getType(name) ?? 'application/octet-stream';
  return text.test(type) ? `${type}; charset=utf-8` : type;
}
