import type { Readable } from 'node:stream';
import {
  type BufferOptions,
  type Call,
  type Data,
  type GivenBody,
  mayLoseDigits,
  type PipeRequest,
  type PluginRequest,
  paramKey,
  parseExact,
  Query,
} from '#contract';
import { BUFFER_LIMIT_BYTES, readableRequest, toRequestBody } from './bodies.ts';
import { BodyField } from './body-field.ts';
import { type Headers, headersOf, writeHeaders } from './headers.ts';
import { type Named, namedValues, type Spelling, textsOf, valuesOf } from './values.ts';

const paramSpelling: Spelling<string> = { spell: paramKey, coerce: (value) => textsOf(value)?.join() };
const querySpelling: Spelling<string[]> = { spell: (name) => name, coerce: textsOf };

/**
 * A pipe request in the form that handlers see: fields that can be read, modified in place or replaced. Changes take
 * effect when the handler returns or calls `next`.
 */
export class RequestView implements PluginRequest {
  method: string;
  /** Target address at a backend; at an endpoint, the address that the client requests, which is not sent anywhere. */
  url: string;
  path: string;
  /** Path variables, available as `id` and as `Id`. */
  params: Named<string>;
  query: Named<string[]>;
  headers: Headers;
  /** Body as a stream, readable once; null for none. Can be set to a text, bytes or a stream. */
  declare body: Readable | null;
  readonly #request: PipeRequest;
  readonly #field: BodyField | null = null;

  constructor(request: PipeRequest) {
    this.#request = request;
    this.method = request.method;
    this.url = urlOf(request);
    this.path = pathOf(request);
    this.params = namedValues(paramSpelling, () => Object.assign(Object.create(null), request.params));
    this.query = namedValues(querySpelling, () => {
      const values: Named<string[]> = Object.create(null);
      for (const [name, list] of request.query) values[name] = [...list];
      return values;
    });
    this.headers = headersOf(request.headers);
    const { body } = request;
    if (body === null) this.body = null;
    else this.#field = BodyField.define(this, 'body', () => readableRequest(body));
  }

  /** Returns the body that a handler has set; undefined if it was not replaced. */
  static newBody(own: RequestView, given: object): { readonly body: GivenBody } | undefined {
    const field = own.#field;
    if (given === own) return field ? field.replacement : own.body === null ? undefined : { body: own.body };
    if (!Object.hasOwn(given, 'body')) return undefined;
    const { body } = given as { body: GivenBody };
    return body === null && !field ? undefined : field?.isStream(body) ? undefined : { body };
  }

  /** Reads the whole body, which remains available to others. @throws CallError PAYLOAD_TOO_LARGE, 413. */
  async text(options?: BufferOptions): Promise<string> {
    const bytes = await this.#bytes(options);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  }

  /** Reads and parses the whole body. @throws Error with the status 400 for invalid JSON. */
  async json(options?: BufferOptions): Promise<Data> {
    const text = await this.text(options);
    try {
      return mayLoseDigits(text) ? parseExact(text) : JSON.parse(text);
    } catch (error) {
      throw Object.assign(new Error(`the body is not valid JSON: ${(error as Error).message}`), { statusCode: 400 });
    }
  }

  async #bytes({ limit }: BufferOptions = {}): Promise<Uint8Array> {
    const { body } = this.#request;
    if (body === null) return new Uint8Array();
    body.restrict(limit ?? BUFFER_LIMIT_BYTES);
    return limit === undefined ? body.bytesToParse() : body.bytes();
  }
}

function pathOf({ origin, target, client }: PipeRequest): string {
  return origin === '' ? client.path : target.split('?', 1)[0]!;
}

function urlOf({ origin, target, client }: PipeRequest): string {
  if (origin !== '') return origin + target;
  return client.search === '' ? client.path : `${client.path}?${client.search}`;
}

type Fields = Partial<Record<'method' | 'url' | 'params' | 'query' | 'headers', unknown>>;

/** Returns whether a handler can pass a value on as a request. */
export function isRequestLike(given: unknown): given is object {
  if (given instanceof RequestView) return true;
  if (typeof given !== 'object' || given === null) return false;
  return ['method', 'url', 'params', 'query', 'headers', 'body'].some((field) => Object.hasOwn(given, field));
}

/**
 * Writes a handler's changes, made to the request or a copy, to the pipe request.
 * @param own the request that the handler received.
 * @throws TypeError for an invalid method, address, header or body.
 */
export function writeRequest(given: object, own: RequestView, request: PipeRequest, call: Call): void {
  const { method, url, params, query, headers } = given as Fields;
  if (typeof method === 'string' && method !== request.method) {
    if (!/^[A-Za-z]{1,20}$/.test(method)) throw new TypeError(`"${method.slice(0, 50)}" is not a valid method`);
    request.method = method;
  }
  if (url !== undefined && request.origin !== '' && url !== request.origin + request.target) readdress(request, url);
  if (isNamed(params)) {
    const values = valuesOf(params, paramSpelling);
    if (values) request.params = { ...values };
  }
  if (isNamed(query)) writeQuery(request, query);
  if (isNamed(headers)) writeHeaders(request.headers, headers);
  const replaced = RequestView.newBody(own, given);
  if (replaced) request.body = toRequestBody(replaced.body, call);
}

function isNamed(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** In the backend phase, the query is already part of the address. */
function writeQuery(request: PipeRequest, given: object): void {
  const values = valuesOf(given, querySpelling);
  if (!values) return;
  const query = new Query();
  for (const [name, list] of Object.entries(values)) query.set(name, ...list.map(String));
  const before = request.query.toString();
  const after = query.toString();
  request.query = query;
  if (request.origin === '' || before === after) return;
  const [path] = request.target.split('?', 1);
  request.target = after === '' ? path! : `${path}?${after}`;
}

function readdress(request: PipeRequest, given: unknown): void {
  const text = String(given);
  if (!URL.canParse(text)) throw new TypeError(`"${text.slice(0, 100)}" is not a valid URL`);
  const { protocol, host, pathname, search } = new URL(text);
  request.origin = `${protocol}//${host}`;
  request.target = pathname + search;
}
