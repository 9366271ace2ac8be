import { type ByteStream, type HeaderBag, isHopByHop, Reply } from '#contract';
import { bytesOf, streamOf } from './fetch-bodies.ts';
import { bagOf, fillHeaders, takeHeaders } from './fetch-headers.ts';

const bodiless = new Set([101, 103, 204, 205, 304]);

/** The type declarations describe members as plain fields, which a subclass could not override otherwise. */
const Base = Response as unknown as new (body: null, init: ResponseInit) => object;

/** The built-in `headers` getter of responses. */
const ownHeaders = Object.getOwnPropertyDescriptor(Response.prototype, 'headers')!.get!;

/**
 * A gateway reply as a response whose body is opened on first access: a response that is passed on costs little more
 * than its headers.
 */
class LazyResponse extends Base {
  readonly #status: number;
  readonly #bytes: (() => AsyncIterable<Uint8Array>) | null;
  readonly #bag: HeaderBag;
  #isSeen = false;
  #opened: Response | null = null;

  constructor(status: number, headers: HeaderBag, bytes: (() => AsyncIterable<Uint8Array>) | null) {
    super(null, { status: status < 200 ? 200 : status });
    this.#bag = headers;
    this.#status = status;
    this.#bytes = bodiless.has(status) ? null : bytes;
  }

  /** Returns whether the body has been accessed. */
  static isOpened(response: LazyResponse): boolean {
    return response.#opened !== null;
  }

  /** Returns whether the headers have been accessed and may have been changed. */
  static isSeen(response: LazyResponse): boolean {
    return response.#isSeen;
  }

  get headers(): Headers {
    const headers = ownHeaders.call(this) as Headers;
    if (!this.#isSeen) fillHeaders(headers, this.#bag);
    this.#isSeen = true;
    return headers;
  }

  get #whole(): Response {
    const { headers } = this;
    const status = this.#status;
    this.#opened ??= new Response(this.#bytes && (streamOf(this.#bytes) as globalThis.ReadableStream), {
      status: status < 200 ? 200 : status,
      headers,
    });
    return this.#opened;
  }

  get status(): number {
    return this.#status;
  }

  get ok(): boolean {
    return this.#status >= 200 && this.#status < 300;
  }

  get body(): Response['body'] {
    return this.#bytes && this.#whole.body;
  }

  get bodyUsed(): boolean {
    return this.#opened?.bodyUsed ?? false;
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#whole.arrayBuffer();
  }

  blob(): Promise<Blob> {
    return this.#whole.blob();
  }

  bytes(): ReturnType<Response['bytes']> {
    return this.#whole.bytes();
  }

  formData(): ReturnType<Response['formData']> {
    return this.#whole.formData();
  }

  json(): Promise<unknown> {
    return this.#whole.json();
  }

  text(): Promise<string> {
    return this.#whole.text();
  }

  clone(): Response {
    return this.#whole.clone();
  }
}

/** Creates the bytes of a body on first read. */
export type OpenBody = () => Uint8Array | ByteStream;

/** @param body default: the reply's body. */
export function toResponse(reply: Reply, body: OpenBody | null = bodyOf(reply)): Response {
  const response = new LazyResponse(reply.status, reply.headers, body && (() => chunksOf(body())));
  return response as unknown as Response;
}

function bodyOf({ body }: Reply): OpenBody | null {
  return body && (() => body);
}

/** Returns whether a response was created by `toResponse` and its body is unchanged. */
export function isUnopened(response: Response): boolean {
  const given: unknown = response;
  return given instanceof LazyResponse && !LazyResponse.isOpened(given);
}

async function* chunksOf(body: Uint8Array | ByteStream): AsyncIterable<Uint8Array> {
  if (body instanceof Uint8Array) yield body;
  else yield* body;
}

/** Maps responses to the replies that they represent; a response that is passed on yields its own reply. */
export class Responses {
  readonly #replies = new Map<object, Reply>();

  /** @param body the body in the form it is written. Default: the reply's own. */
  add(reply: Reply, body?: OpenBody | null): Response {
    const response = toResponse(reply, body);
    this.#replies.set(response, reply);
    return response;
  }

  /** @throws TypeError for a value that is not a response, or one that has been read. */
  take(given: unknown): Reply {
    if (!isResponse(given)) throw new NoResponse(given);
    const known = this.#replies.get(given);
    this.#replies.delete(given);
    if (known && isUnopened(given)) {
      if (LazyResponse.isSeen(given as unknown as LazyResponse)) takeHeaders(known.headers, given.headers);
      return known;
    }
    const { status, body } = given;
    if (!Number.isInteger(status) || status < 200 || status > 599)
      throw new TypeError(`${status} is not a valid status`);
    if (given.bodyUsed) throw new TypeError('the body of the response was already read');
    return Reply.raw(status, headersOf(given), body && bytesOf(body));
  }

  /** Iterates over the replies that were neither returned nor opened. */
  *rest(): Iterable<Reply> {
    for (const [response, reply] of this.#replies) if (isUnopened(response as Response)) yield reply;
  }
}

/** Thrown when a handler returns something other than a response. */
export class NoResponse extends TypeError {
  readonly given: unknown;

  constructor(given: unknown) {
    super('unknown response type');
    this.given = given;
  }
}

function isResponse(given: unknown): given is Response {
  return given instanceof Response || Object.prototype.toString.call(given) === '[object Response]';
}

/** The length is that of the actual bytes; `fetch` has already decompressed the bodies it received. */
function headersOf({ headers, type }: Response): HeaderBag {
  const bag = bagOf(headers);
  bag.filter(
    (name) => name !== 'content-length' && !isHopByHop(name) && (type === 'default' || name !== 'content-encoding'),
  );
  return bag;
}
