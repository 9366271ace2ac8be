import { HeaderBag, Reply } from '#contract';
import { spanOf } from '../../shared/http-headers/byte-range.ts';
import { httpDate } from '../../shared/http-headers/date.ts';

/**
 * Response to a range request from a complete response with status 200: a 206 with the part, a 416 if the range is not
 * satisfiable, or the whole response for several ranges, units other than bytes, invalid headers, and an `If-Range`
 * that does not match.
 * @param whole with its headers, and its body if it is completely available.
 */
export function partOf(whole: Reply, requested: HeaderBag): Reply {
  const { headers, body } = whole;
  const range = requested.get('range');
  if (range === undefined || whole.status !== 200 || !(body instanceof Uint8Array)) return whole;
  const condition = requested.get('if-range');
  if (condition !== undefined && !holds(condition, headers)) return whole;
  const span = spanOf(range, body.length);
  if (span === 'whole') return whole;
  const part = new HeaderBag(headers.list.slice());
  part.delete('content-length');
  if (span === 'none') {
    part.filter((name) => !name.startsWith('content-'));
    part.set('Content-Range', `bytes */${body.length}`);
    return Reply.raw(416, part, null);
  }
  part.set('Content-Range', `bytes ${span.start}-${span.end - 1}/${body.length}`);
  return Reply.raw(206, part, body.subarray(span.start, span.end));
}

/** True when the condition matches the stored response exactly: by a strong tag, or by a modification time long before the response. */
function holds(condition: string, headers: HeaderBag): boolean {
  const wanted = condition.trim();
  if (wanted.startsWith('"')) return headers.get('etag') === wanted;
  const modified = httpDate(headers.get('last-modified'));
  if (Number.isNaN(modified) || wanted !== headers.get('last-modified')) return false;
  // The time must be well before the response, because a resource can change twice within one second, the resolution of
  // `Last-Modified`.
  return modified + 1000 <= httpDate(headers.get('date'));
}
