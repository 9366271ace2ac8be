import type { ServerResponse } from 'node:http';
import type { Log, Reply } from '#contract';
import type { RenderedReply } from '../../pipeline/response/render.ts';

/** Fields that are invalid or have a different meaning as trailers: framing, content metadata and control fields. */
const misplaced =
  /^(?:connection|content-.*|date|host|keep-alive|location|set-cookie|te|trailer|transfer-encoding|upgrade)$/i;
/**
 * The gateway's own fields: only protocols with a status in the trailers send them there, and backends cannot set them.
 */
const ofGateway = /^x-(?:gateway|krakend)(?:-completed)?$/i;

/** Whether a response's trailers are written: over HTTP/1.1, only to clients that request them with `TE`. */
export function takesTrailers({ req }: ServerResponse, { status, trailers }: RenderedReply): boolean {
  if (!trailers || req.method === 'HEAD' || status === 204 || status === 304) return false;
  if (req.httpVersionMajor >= 2) return true;
  const { te } = req.headers;
  return req.httpVersion === '1.1' && te !== undefined && /(?:^|[\s,])trailers(?:[\s,;]|$)/i.test(String(te));
}

/** Trailers to write, by name. */
export type TrailerFields = ReadonlyMap<string, readonly string[]>;

/**
 * Returns the fields that are allowed as trailers; an empty map when the trailers cannot be obtained, which is logged.
 * @param outcome see `Reply.outcome`.
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
    log?.error(() => `trailers omitted because a component failed: ${error instanceof Error ? error.stack : error}`);
    fields.clear();
  }
  return fields;
}

/**
 * Prepares headers for a body with trailers: over HTTP/1.1 it is sent in chunks, and known names are announced in
 * `Trailer`.
 */
export function announce({ req }: ServerResponse, headers: string[], names: Iterable<string>): void {
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    if (req.httpVersionMajor < 2 && headers[at]!.toLowerCase() === 'content-length') headers.splice(at, 2);
  }
  const list = [...names].join(', ');
  if (list !== '') headers.push('Trailer', list);
}

/** Ends a response with its trailers; without them when they cannot be written, which is logged. */
export function endWithTrailers(response: ServerResponse, fields: TrailerFields, log?: Log): void {
  try {
    if (fields.size > 0) response.addTrailers(Object.fromEntries(fields) as unknown as Record<string, string>);
  } catch (error) {
    log?.error(
      () => `trailers omitted because they cannot be written: ${error instanceof Error ? error.stack : error}`,
    );
  }
  response.end();
}
