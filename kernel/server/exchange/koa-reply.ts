import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type Koa from 'koa';
import { ByteStream, type Call } from '#contract';
import type { RenderedReply } from '../../pipeline/response/render.ts';
import { acceptedCoding, compressBytes, type Profile } from '../response/coding.ts';
import { isCompressible, weakTag } from '../response/compression.ts';

/** Leaves a response on the context, for middleware that reads it; Koa writes it. */
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
  // Without a body, Koa would write the status text as the body.
  context.body =
    body instanceof ByteStream ? body.readable() : typeof body === 'string' ? body : Buffer.from(body ?? '');
  if (type) context.set('Content-Type', type);
  else context.remove('Content-Type');
  if (length && (body instanceof ByteStream || context.method === 'HEAD')) context.set('Content-Length', length);
  if (!(body instanceof ByteStream)) call?.finish();
}

/** Whether a header is a list to which both middleware and an endpoint may add values. */
function isList(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === 'set-cookie' || lower === 'vary' || lower === 'link';
}

/** Compresses the body left on the context, if the client accepts that. */
export async function compressReply(context: Koa.Context, profile: Profile): Promise<void> {
  const { body, status, res } = context;
  if (context.compress === false || context.method === 'HEAD') return;
  const coding = acceptedCoding(context.get('accept-encoding'));
  if ((typeof body !== 'string' && !Buffer.isBuffer(body)) || coding === null) return;
  const headers = Object.entries(res.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
  if (!isCompressible(status, headers, body)) return;
  const tag = context.response.get('etag');
  context.body = await compressBytes(body, coding, profile);
  context.set('Content-Encoding', coding);
  context.vary('Accept-Encoding');
  if (tag) context.set('ETag', weakTag(tag));
}

/**
 * Moves headers set by service-level middleware into a response's headers. They replace headers of the same name,
 * except lists.
 */
export function joinContext(response: ServerResponse, headers: string[]): void {
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    if (response.hasHeader(headers[at]!) && !isList(headers[at]!)) headers.splice(at, 2);
  }
  for (const text of takeHeaders(response)) headers.push(text);
}

/** Removes all headers set on a response. @returns a flat list of names and values. */
export function takeHeaders(response: ServerResponse): string[] {
  const headers = headersOn(response);
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  return headers;
}

/** Returns the headers set on a response, as a flat list of names and values. */
export function headersOn(response: ServerResponse & { getRawHeaderNames?(): string[] }): string[] {
  // Over HTTP/2, names are available only in lowercase.
  const names = response.getRawHeaderNames?.() ?? response.getHeaderNames();
  return names.flatMap((name) => [response.getHeader(name) ?? []].flat().flatMap((value) => [name, String(value)]));
}

/** Headers about the framing of the received body. They keep their values even if middleware changes them. */
const framing: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);

/** Snapshot of a request, to detect what Koa middleware changes. */
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

  /** Whether the URL or the method of the request has changed. */
  get isElsewhere(): boolean {
    const { url, method } = this.#message;
    return url !== this.#url || method !== this.#method;
  }

  /** Copies added, replaced and removed headers to the raw headers, which the pipe reads. */
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

/** Returns the `Content-Length` that middleware set for the body it wrote. */
export function lengthOf(response: ServerResponse): number | undefined {
  const length = response.getHeader('content-length');
  return length === undefined || response.req.method === 'HEAD' ? undefined : Number(length);
}
