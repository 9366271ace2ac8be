import {
  type ByteStream,
  type Call,
  CallError,
  type DataObject,
  type HeaderBag,
  isHeaderName,
  isObject,
  mayLoseDigits,
  type PipeRequest,
  parseExact,
  printJson,
  Query,
  type Reply,
  RequestBody,
} from '#contract';

/** Messages between the gateway and the thread of an isolated module, and how each side reads them. */

/** Maximum size of a body, in bytes; bodies are always sent in one piece. */
export const BODY_LIMIT_BYTES = 8 * 1024 * 1024;

/** Marks a body that was not replaced and stays where it is. */
export const SAME = 'same';

/** A body: bytes, none, or the body that the gateway holds. */
export type SentBody = Uint8Array | typeof SAME | null;

export interface SentRequest {
  readonly method: string;
  readonly origin: string;
  readonly target: string;
  readonly host: string | null;
  readonly params: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, readonly string[]])[];
  readonly headers: readonly string[];
  /** In messages to the thread, `SAME` marks a body that can be requested. */
  readonly body: SentBody;
}

export interface SentReply {
  /** Number of the gateway's reply that this one is based on, changed or not; null for a new one. */
  readonly ref: number | null;
  readonly status: number;
  readonly headers: readonly string[];
  /** Data of the reply as JSON text; null for none. */
  readonly data: string | null;
  readonly complete: boolean | null;
  readonly skipped: boolean;
  /** Messages of the errors of the reply. */
  readonly errors: readonly string[];
  readonly upgrade: boolean;
  readonly body: SentBody;
}

/** State shared by all modules of a request, as far as it can be copied; undefined for none. */
export type SentState = ReadonlyMap<string, unknown> | undefined;

export function sendRequest(request: PipeRequest, body: SentBody): SentRequest {
  const { method, origin, target, host, params, query, headers } = request;
  return { method, origin, target, host, params: { ...params }, query: [...query], headers: headers.list, body };
}

export function sendReply(reply: Reply, ref: number | null, body: SentBody): SentReply {
  const { status, headers, data, complete, skipped, errors, upgrade } = reply;
  return {
    ref,
    status,
    headers: headers.list,
    data: data && printJson(data),
    complete,
    skipped,
    errors: errors.map(({ message }) => message),
    upgrade: upgrade !== null,
    body,
  };
}

/**
 * Writes data from the thread to a request, except for the body.
 * @throws TypeError for an invalid request: the thread runs the module's code.
 */
export function writeReceived(request: PipeRequest, sent: unknown): void {
  const { method, origin, target, host, params, query, headers } = fieldsOf<SentRequest>(sent);
  if (!/^[A-Za-z]{1,20}$/.test(method)) throw new TypeError('the request method is not valid');
  for (const text of [origin, target, host ?? '']) {
    if (typeof text !== 'string' || /[\0-\x20\x7f]/.test(text)) throw new TypeError('the request URL is not valid');
  }
  request.method = method;
  request.origin = origin;
  request.target = target;
  request.host = host;
  request.params = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
  request.query = new Query();
  for (const [name, values] of query) request.query.set(String(name), ...values.map(String));
  assignHeaders(request.headers, headers);
}

/** Returns received data as an object of fields; missing fields are detected where they are used. */
export function fieldsOf<T>(sent: unknown): T {
  if (!isObject(sent)) throw new TypeError('the thread sent an unexpected message');
  return sent as T;
}

/** @throws TypeError for invalid header names and values. */
export function assignHeaders(bag: HeaderBag, list: unknown): void {
  if (!Array.isArray(list) || list.length % 2 === 1) throw new TypeError('the headers are not valid');
  const known = bag.list;
  if (known.length === list.length && known.every((text, at) => text === list[at])) return;
  for (const [at, text] of list.entries()) {
    const isSound =
      typeof text === 'string' && (at % 2 === 0 ? isHeaderName(text) : !/[\0-\x08\n-\x1f\x7f]/.test(text));
    // Values of headers as a client or a backend has sent them are assigned unchanged, without checks.
    if (!isSound && !known.includes(text)) throw new TypeError('the headers are not valid');
  }
  bag.assign(list);
}

/** @throws TypeError for an invalid body. */
export function bytesIn(body: unknown): Uint8Array | null {
  if (body === null || body instanceof Uint8Array) return body;
  throw new TypeError('a body must consist of bytes');
}

/** @throws TypeError, SyntaxError if the text is not a JSON object. */
export function dataIn(text: unknown): DataObject | null {
  if (text === null) return null;
  if (typeof text !== 'string') throw new TypeError('data must be a JSON text');
  const data = mayLoseDigits(text) ? parseExact(text) : JSON.parse(text);
  if (!isObject(data)) throw new TypeError('the data of a response must be an object');
  return data;
}

/** Reads all bytes of a body into memory of their own. @throws CallError PLUGIN_BODY beyond the limit; PAYLOAD_TOO_LARGE for a request. */
export async function wholeBody(body: Uint8Array | ByteStream | RequestBody): Promise<Uint8Array> {
  const bytes = await collected(body);
  if (bytes.length > BODY_LIMIT_BYTES) throw tooLarge();
  return bytes;
}

/** Copies the bytes: transferring a Node.js buffer would transfer the memory pool that it is a slice of. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

async function collected(body: Uint8Array | ByteStream | RequestBody): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body;
  if (body instanceof RequestBody) {
    body.restrict(BODY_LIMIT_BYTES);
    return body.bytes();
  }
  try {
    return await body.collect(BODY_LIMIT_BYTES);
  } catch (error) {
    throw (error as { readonly code?: unknown }).code === 'BODY_TOO_LARGE' ? tooLarge() : error;
  }
}

function tooLarge(): CallError {
  const message = `the body is larger than ${BODY_LIMIT_BYTES} bytes: isolated plugins receive bodies in one piece`;
  return new CallError('PLUGIN_BODY', message);
}

/** Returns the part of a state that can be copied; other values stay on their side. */
export function sendState(state: Map<string, unknown> | undefined): SentState {
  return state && new Map([...state].filter(([, value]) => isCopyable(value)));
}

function isCopyable(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function' && typeof value !== 'symbol';
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}

/** Maximum number of values that one request can share. */
const MOST_VALUES = 1000;

/** Applies the changes of the other thread to a state. @param before the state that was sent. */
export function receiveState(
  stateOf: (call: Call) => Map<string, unknown>,
  call: Call,
  before: SentState,
  sent: unknown,
) {
  if (!(sent instanceof Map) || sent.size > MOST_VALUES) return;
  const state = stateOf(call);
  for (const name of before?.keys() ?? []) if (!sent.has(name)) state.delete(name);
  for (const [name, value] of sent) if (typeof name === 'string') state.set(name, value);
}
