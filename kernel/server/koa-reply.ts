import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type Koa from 'koa';
import { ByteStream, type Call } from '#contract';
import type { RenderedReply } from '../pipeline/render.ts';
import { acceptsGzip, compressBytes, isCompressible, weakTag } from './compression.ts';

/** Leaves an answer on the context, for middleware that reads the reply: Koa writes it. */
export function handToKoa(context: Koa.Context, rendered: RenderedReply, call: Call | null): void {
  const { status, headers, body } = rendered;
  const { res, response } = context;
  context.status = status;
  const settled = new Set(res.getHeaderNames());
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!;
    if (!settled.has(name.toLowerCase()) || isList(name)) context.append(name, headers[at + 1]!);
  }
  const type = response.get('content-type');
  const length = response.get('content-length');
  // Without a body Koa would write the status's name into it.
  context.body =
    body instanceof ByteStream ? body.readable() : typeof body === 'string' ? body : Buffer.from(body ?? '');
  if (type) context.set('Content-Type', type);
  else context.remove('Content-Type');
  if (length && (body instanceof ByteStream || context.method === 'HEAD')) context.set('Content-Length', length);
  if (!(body instanceof ByteStream)) call?.finish();
}

/** Headers of which middleware and an endpoint may each set their own. */
function isList(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === 'set-cookie' || lower === 'vary' || lower === 'link';
}

/** Compresses what was left on the context, where the client asks for it. */
export async function compressReply(context: Koa.Context): Promise<void> {
  const { body, status, res } = context;
  if (context.compress === false || context.method === 'HEAD') return;
  if ((typeof body !== 'string' && !Buffer.isBuffer(body)) || !acceptsGzip(context.get('accept-encoding'))) return;
  const headers = Object.entries(res.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
  if (!isCompressible(status, headers, body)) return;
  const tag = context.response.get('etag');
  context.body = await compressBytes(body);
  context.set('Content-Encoding', 'gzip');
  context.vary('Accept-Encoding');
  if (tag) context.set('ETag', weakTag(tag));
}

/**
 * Moves what service-level middleware has set to the headers of an answer. It stands: a header of the same name goes, unless
 * it is a list.
 */
export function joinContext(response: ServerResponse, headers: string[]): void {
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    if (response.hasHeader(headers[at]!) && !isList(headers[at]!)) headers.splice(at, 2);
  }
  for (const text of takeHeaders(response)) headers.push(text);
}

/** Takes what was set on a response off it. @returns a flat list of names and values. */
export function takeHeaders(response: ServerResponse): string[] {
  const headers = headersOn(response);
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  return headers;
}

/** What was set on a response, as a flat list of names and values. */
export function headersOn(response: ServerResponse & { getRawHeaderNames?(): string[] }): string[] {
  // Over HTTP/2 names are known in lower case only.
  const names = response.getRawHeaderNames?.() ?? response.getHeaderNames();
  return names.flatMap((name) => [response.getHeader(name) ?? []].flat().flatMap((value) => [name, String(value)]));
}

/** Headers that say how the body travels: what arrived stays true, whatever middleware makes of them. */
const framing: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);

/** A request as it came, to tell what Koa middleware changes of it. */
export class KoaChanges {
  readonly #message: IncomingMessage;
  readonly #headers: IncomingHttpHeaders;
  #url: string | undefined;
  #method: string | undefined;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.#headers = { ...message.headers };
    this.#url = message.url;
    this.#method = message.method;
  }

  /** Something else is asked for than before. */
  get isElsewhere(): boolean {
    const { url, method } = this.#message;
    return url !== this.#url || method !== this.#method;
  }

  /** Writes the headers that were set, replaced or taken away where the pipe reads them. */
  settleHeaders(): void {
    const { headers, rawHeaders } = this.#message;
    for (const name of new Set([...Object.keys(this.#headers), ...Object.keys(headers)])) {
      const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
      const before = Object.hasOwn(this.#headers, name) ? this.#headers[name] : undefined;
      if (value === before || name.startsWith(':') || framing.has(name.toLowerCase())) continue;
      removeHeader(rawHeaders, name.toLowerCase());
      for (const one of [value ?? []].flat()) rawHeaders.push(name, String(one));
    }
  }
}

function removeHeader(list: string[], lowerName: string): void {
  for (let at = list.length - 2; at >= 0; at -= 2) if (list[at]!.toLowerCase() === lowerName) list.splice(at, 2);
}

/** The length that middleware has told of what it wrote. */
export function lengthOf(response: ServerResponse): number | undefined {
  const length = response.getHeader('content-length');
  return length === undefined || response.req.method === 'HEAD' ? undefined : Number(length);
}
