import type { ServerResponse } from 'node:http';
import type { Log, Reply } from '#contract';
import type { RenderedReply } from '../pipeline/render.ts';

/** Fields that mean nothing, or something else, behind a body: they say how it travels, what it is or what to do with it. */
const misplaced =
  /^(?:connection|content-.*|date|host|keep-alive|location|set-cookie|te|trailer|transfer-encoding|upgrade)$/i;
/** The gateway's own: in a protocol of its own they stand behind the body, where no backend has a say. */
const ofGateway = /^x-(?:gateway|krakend)(?:-completed)?$/i;

/** Whether what an answer has to say behind its body is written: over HTTP/1.1 only to clients that ask for it. */
export function takesTrailers({ req }: ServerResponse, { status, trailers }: RenderedReply): boolean {
  if (!trailers || req.method === 'HEAD' || status === 204 || status === 304) return false;
  if (req.httpVersionMajor >= 2) return true;
  const { te } = req.headers;
  return req.httpVersion === '1.1' && te !== undefined && /(?:^|[\s,])trailers(?:[\s,;]|$)/i.test(String(te));
}

/** What is written behind a body, by name. */
export type TrailerFields = ReadonlyMap<string, readonly string[]>;

/**
 * The fields that may stand behind a body; none where they cannot be had, which is logged.
 * @param outcome as of `Reply.outcome`.
 */
export function trailerFields(
  trailers: NonNullable<Reply['trailers']>,
  outcome: RenderedReply['outcome'],
  log?: Log,
): TrailerFields {
  const fields = new Map<string, string[]>();
  try {
    for (const [name, value] of typeof trailers === 'function' ? trailers() : trailers) {
      if (misplaced.test(name) || (outcome === undefined && ofGateway.test(name))) continue;
      fields.set(name, [...(fields.get(name) ?? []), value]);
    }
  } catch (error) {
    log?.error(() => `trailers left out: ${error instanceof Error ? error.stack : error}`);
    fields.clear();
  }
  return fields;
}

/** Headers for a body with trailers behind it: over HTTP/1.1 it comes in chunks, and known names are announced. */
export function announce({ req }: ServerResponse, headers: string[], names: Iterable<string>): void {
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    if (req.httpVersionMajor < 2 && headers[at]!.toLowerCase() === 'content-length') headers.splice(at, 2);
  }
  const list = [...names].join(', ');
  if (list !== '') headers.push('Trailer', list);
}

/** Ends a response with its trailers; without those that cannot be written. */
export function endWithTrailers(response: ServerResponse, fields: TrailerFields, log?: Log): void {
  try {
    if (fields.size > 0) response.addTrailers(Object.fromEntries(fields) as unknown as Record<string, string>);
  } catch (error) {
    log?.error(() => `trailers left out: ${error instanceof Error ? error.stack : error}`);
  }
  response.end();
}
