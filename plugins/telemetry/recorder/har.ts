import { isUtf8 } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import { type Capture, type DataObject, gunzipBody, HeaderBag, type Masks, printJson, Query } from '#contract';
import type { Exchange } from './exchange.ts';

/** Link between the entries of one recording. */
export interface EntryLink {
  /** ID of the recording. */
  readonly id: string;
  /** Endpoint, for example `GET /users/{id}`; null if no endpoint matched. */
  readonly endpoint: string | null;
  /** Position of the backend in the endpoint; absent in the entry of the client. */
  readonly backend?: number;
  /** Number of backend calls that were not recorded. */
  readonly omitted_calls?: number;
}

/** A body for an entry: its text, or the reason why it is omitted. */
interface Body {
  readonly bytes: Uint8Array;
  readonly omitted: string | null;
}

const none = new Uint8Array();

/** Prints an exchange as an entry of HAR 1.2, with credentials masked. @param isOver whether the request ended completely. */
export async function printEntry(exchange: Exchange, link: EntryLink, masks: Masks, isOver: boolean): Promise<string> {
  const { method, requestHeaders, startedAt, timeMs, requestLength } = exchange;
  const url = masks.target(exchange.url);
  const { length } = exchange.requestBody;
  const hasArrived = requestLength === undefined ? isOver : length === requestLength;
  const request = await bodyOf(
    exchange.requestBody,
    hasArrived,
    { headers: requestHeaders, coding: requestHeaders.get('content-encoding') },
    masks,
  );
  const response = await responseOf(exchange, masks);
  const mark = url.indexOf('?');
  const omitted: DataObject = {
    ...(request.omitted !== null && { request: request.omitted }),
    ...(response.omitted !== null && { response: response.omitted }),
  };
  const wait = Math.round(timeMs * 1000) / 1000;
  return printJson({
    startedDateTime: new Date(startedAt).toISOString(),
    time: wait,
    request: {
      method,
      url,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: headersOf(requestHeaders, masks),
      queryString: mark < 0 ? [] : pairsOf(url.slice(mark + 1)),
      headersSize: -1,
      bodySize: length,
      ...(request.bytes.length > 0 && { postData: { mimeType: typeOf(requestHeaders), ...textOf(request.bytes) } }),
    },
    response: response.har,
    cache: {},
    timings: { send: 0, wait, receive: 0 },
    _sluice: { ...link, ...(Object.keys(omitted).length > 0 && { omitted }) },
  });
}

async function responseOf(exchange: Exchange, masks: Masks): Promise<{ har: DataObject; omitted: string | null }> {
  const { status, responseHeaders, responseBody, coding } = exchange;
  const isPending = status === null;
  const { bytes, omitted } = responseHeaders
    ? await bodyOf(responseBody, responseBody.isComplete, { headers: responseHeaders, coding }, masks)
    : { bytes: none, omitted: isPending ? 'no response' : null };
  const har = {
    status: status ?? 0,
    statusText: STATUS_CODES[status ?? 0] ?? '',
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: responseHeaders ? headersOf(responseHeaders, masks) : [],
    content: {
      size: bytes.length,
      mimeType: responseHeaders ? typeOf(responseHeaders) : '',
      ...(bytes.length > 0 && textOf(bytes)),
    },
    redirectURL: '',
    headersSize: -1,
    bodySize: responseBody.length,
  };
  return { har, omitted: status === 0 ? null : omitted };
}

async function bodyOf(
  capture: Capture,
  isComplete: boolean,
  { headers, coding }: { readonly headers: HeaderBag; readonly coding: string | undefined },
  masks: Masks,
): Promise<Body> {
  const omit = (omitted: string): Body => ({ bytes: none, omitted });
  const { bytes } = capture;
  if (bytes === null) return omit(capture.isTooLong ? 'too long' : 'incomplete');
  if (!isComplete) return omit('incomplete');
  if (bytes.length === 0) return { bytes, omitted: null };
  const plain = await decompressed(bytes, coding, capture.limitBytes);
  if (plain === null) return omit('compressed');
  const masked = masks.body(plain, typeOf(headers));
  return masked === null ? omit('cannot be masked') : { bytes: masked, omitted: null };
}

/** Decompresses gzip; null for other codings, invalid data, and results above the limit. */
async function decompressed(bytes: Uint8Array, coding: string | undefined, limit: number): Promise<Uint8Array | null> {
  if (coding === undefined || coding.toLowerCase() === 'identity') return bytes;
  if (!/^(?:x-)?gzip$/i.test(coding)) return null;
  try {
    return await gunzipBody(bytes, new HeaderBag(['Content-Encoding', coding]), limit);
  } catch {
    return null;
  }
}

function headersOf(headers: HeaderBag, masks: Masks): DataObject[] {
  return [...headers].map(([name, value]) => ({ name, value: masks.header(name, value) }));
}

function pairsOf(search: string): DataObject[] {
  return [...Query.parse(search)].flatMap(([name, values]) => values.map((value) => ({ name, value })));
}

function typeOf(headers: HeaderBag): string {
  return headers.get('content-type') ?? '';
}

/** Text of a body; base64 for bytes that are not UTF-8. */
function textOf(bytes: Uint8Array): DataObject {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return isUtf8(bytes) ? { text: buffer.toString() } : { text: buffer.toString('base64'), encoding: 'base64' };
}

/** Prints entries as a HAR file. */
export function printHar(entries: readonly string[], version: string): string {
  const creator = JSON.stringify({ name: 'sluice', version });
  return `{"log":{"version":"1.2","creator":${creator},"entries":[${entries.join(',\n')}]}}\n`;
}
