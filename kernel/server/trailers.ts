import type { ServerResponse } from 'node:http';
import type { HeaderBag, Log } from '#contract';
import type { Answer } from '../pipeline/render.ts';

/** Fields that mean nothing, or something else, behind a body: they say how it travels, what it is or what to do with it. */
const misplaced =
  /^(?:connection|content-.*|date|host|keep-alive|location|set-cookie|te|trailer|transfer-encoding|upgrade)$/i;

/** Whether what an answer has to say behind its body is written: over HTTP/1.1 only to clients that ask for it. */
export function takesTrailers({ req }: ServerResponse, { status, trailers }: Answer): boolean {
  if (!trailers || req.method === 'HEAD' || status === 204 || status === 304) return false;
  if (req.httpVersionMajor >= 2) return true;
  const { te } = req.headers;
  return req.httpVersion === '1.1' && te !== undefined && /(?:^|[\s,])trailers(?:[\s,;]|$)/i.test(String(te));
}

/** Headers for a body with trailers behind it: over HTTP/1.1 it comes in chunks, and known names are announced. */
export function announce({ req }: ServerResponse, { headers, trailers }: Answer): void {
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    if (req.httpVersionMajor < 2 && headers[at]!.toLowerCase() === 'content-length') headers.splice(at, 2);
  }
  if (typeof trailers !== 'object') return;
  const names = new Set(Array.from(trailers, ([name]) => name).filter((name) => !misplaced.test(name)));
  if (names.size > 0) headers.push('Trailer', [...names].join(', '));
}

/** Ends a response with its trailers; with none where they cannot be had or written. */
export function endWithTrailers(response: ServerResponse, trailers: HeaderBag | (() => HeaderBag), log?: Log): void {
  try {
    const bag = typeof trailers === 'function' ? trailers() : trailers;
    const groups = new Map<string, string[]>();
    for (const [name, value] of bag) {
      if (!misplaced.test(name)) groups.set(name, [...(groups.get(name) ?? []), value]);
    }
    if (groups.size > 0) response.addTrailers(Object.fromEntries(groups) as unknown as Record<string, string>);
  } catch (error) {
    log?.error(() => `trailers left out: ${error instanceof Error ? error.stack : error}`);
  }
  response.end();
}
