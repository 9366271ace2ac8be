import {
  type Data,
  type DataObject,
  gunzipBody,
  type HeaderBag,
  isObject,
  parseExact,
  printJson,
  setKey,
} from '#contract';

import type { Identity } from './identity.ts';

/** Maximum size of a reported body, in bytes. */
export const MAX_BODY_BYTES = 256 * 1024;

/** Replacement for masked values. */
const MASK = '*****';

/** One side of an exchange: the request or the response. */
export interface Side {
  /** ISO 8601 timestamp. */
  readonly time: string;
  readonly headers: HeaderBag;
  /** The body; null if the message has none, or it is not reported. */
  readonly body: Uint8Array | DataObject | null;
}

/** A request and its response, as reported. */
export interface Exchange {
  readonly verb: string;
  readonly uri: string;
  readonly ip: string;
  readonly status: number;
  readonly request: Side;
  readonly response: Side;
  readonly identity: Identity;
}

/** Names whose values are masked: headers case-insensitively, body fields exactly. */
export interface Masks {
  readonly headers: ReadonlySet<string>;
  readonly fields: ReadonlySet<string>;
}

export function masksOf(headers: readonly string[], fields: readonly string[]): Masks {
  return { headers: new Set(headers.map((name) => name.toLowerCase())), fields: new Set(fields) };
}

/** Formats an exchange as a Moesif event. @param metadata added to every event; undefined for none. */
export async function printEvent(
  { verb, uri, ip, status, request, response, identity }: Exchange,
  masks: { readonly request: Masks; readonly response: Masks },
  metadata: DataObject | undefined,
): Promise<string> {
  const { userId, companyId } = identity;
  return printJson({
    direction: 'Incoming',
    request: { verb, uri, ip_address: ip, ...(await sideOf(request, masks.request)) },
    response: { status, ...(await sideOf(response, masks.response)) },
    ...(userId !== undefined && { user_id: userId }),
    ...(companyId !== undefined && { company_id: companyId }),
    ...(metadata && { metadata: { krakend: metadata } }),
  });
}

async function sideOf({ time, headers, body }: Side, masks: Masks): Promise<DataObject> {
  return { time, headers: headersOf(headers, masks.headers), ...(await bodyOf(body, headers, masks.fields)) };
}

function headersOf(headers: HeaderBag, masked: ReadonlySet<string>): DataObject {
  const object: DataObject = {};
  for (const [name] of headers) {
    const lower = name.toLowerCase();
    setKey(object, name, masked.has(lower) ? MASK : headers.getAll(lower).join(', '));
  }
  return object;
}

/** Returns JSON as is and anything else in base64. With masked fields, a body that cannot be searched for them is omitted. */
async function bodyOf(
  body: Uint8Array | DataObject | null,
  headers: HeaderBag,
  masked: ReadonlySet<string>,
): Promise<DataObject> {
  if (body === null || (body instanceof Uint8Array && body.length === 0)) return {};
  const bytes = body instanceof Uint8Array ? await plain(body, headers) : null;
  const data = bytes ? parsed(bytes) : (body as DataObject);
  if (typeof data === 'object' && data !== null) return { body: mask(data, masked), transfer_encoding: 'json' };
  if (!bytes || masked.size > 0) return {};
  return { body: Buffer.from(bytes).toString('base64'), transfer_encoding: 'base64' };
}

/** Decompresses gzip; returns the bytes unchanged if they are not valid gzip. */
async function plain(bytes: Uint8Array, headers: HeaderBag): Promise<Uint8Array> {
  try {
    return await gunzipBody(bytes, headers, MAX_BODY_BYTES);
  } catch {
    return bytes;
  }
}

function parsed(bytes: Uint8Array): Data | undefined {
  try {
    return parseExact(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}

function mask(value: Data, masked: ReadonlySet<string>): Data {
  if (masked.size === 0) return value;
  if (Array.isArray(value)) return value.map((item) => mask(item, masked));
  if (!isObject(value)) return value;
  const copy: DataObject = {};
  for (const key of Object.keys(value)) setKey(copy, key, masked.has(key) ? MASK : mask(value[key]!, masked));
  return copy;
}
