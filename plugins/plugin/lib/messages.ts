import { Readable } from 'node:stream';
import { ReadableStream, type ReadableStreamDefaultReader } from 'node:stream/web';
import { ByteStream, type Call, canonicalHeaderName, HeaderBag, type Reply, RequestBody } from '#contract';

/** Headers of a message of `fetch`, as they are sent. */
export function bagOf(headers: Headers): HeaderBag {
  const bag = new HeaderBag();
  for (const [name, value] of headers) bag.append(canonicalHeaderName(name), value);
  return bag;
}

/** As `Headers`; what it cannot hold is left out. */
export function headersFrom(bag: HeaderBag): Headers {
  const headers = new Headers();
  for (const [name, value] of bag) {
    try {
      headers.append(name, value);
    } catch {
      // A header that came so from a client or a backend and passes on as it is.
    }
  }
  return headers;
}

/** Changes a bag as the headers say that were made of it; what did not change keeps its place, its case and its lines. */
export function takeHeaders(bag: HeaderBag, headers: Headers): void {
  const before = headersFrom(bag);
  for (const name of new Set(before.keys())) if (!headers.has(name)) bag.delete(name);
  for (const name of new Set(headers.keys())) {
    const values = name === 'set-cookie' ? headers.getSetCookie() : [headers.get(name)!];
    const known = name === 'set-cookie' ? before.getSetCookie() : [before.get(name)];
    if (values.length === known.length && values.every((value, at) => value === known[at])) continue;
    bag.delete(name);
    for (const value of values) bag.append(canonicalHeaderName(name), value);
  }
}

/** The body of a request of `fetch`, unread. */
export function bodyOfMessage({ body }: Request, call: Call): RequestBody | null {
  if (!body) return null;
  const stream = Readable.fromWeb(body as ReadableStream);
  // Its failure is told to whoever reads.
  stream.on('error', () => {});
  call.onEnd(() => stream.destroy());
  return RequestBody.stream(stream, undefined);
}

/** Bytes that are asked for only when somebody reads. */
export function streamOf(open: () => AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  let bytes: AsyncIterator<Uint8Array> | null = null;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        bytes ??= open()[Symbol.asyncIterator]();
        const { done, value } = await bytes.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        bytes ??= open()[Symbol.asyncIterator]();
        await bytes.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The bytes of a response of `fetch`. */
export function bytesOf(body: globalThis.ReadableStream): ByteStream {
  const reader = (body as ReadableStream).getReader() as ReadableStreamDefaultReader<Uint8Array>;
  let isWanted = true;
  const pump = async (): Promise<void> => {
    isWanted = true;
    try {
      while (isWanted) {
        const { done, value } = await reader.read();
        if (done) return stream.end();
        if (!(value instanceof Uint8Array)) throw new TypeError('the body of a response is one of bytes');
        isWanted = stream.write(value);
      }
    } catch (error) {
      stream.fail(error as Error);
    }
  };
  const stream = new ByteStream({
    resume: () => void pump(),
    cancel: (reason) => {
      isWanted = false;
      reader.cancel(reason).catch(() => {});
    },
  });
  void pump();
  return stream;
}

const bodiless = new Set([101, 103, 204, 205, 304]);

/** The types say that its members are plain fields, which no class could bring in another way. */
const Base = Response as unknown as new (body: null, init: ResponseInit) => Pick<Response, 'headers'>;

/**
 * A reply of the gateway as a response whose body is opened only when somebody looks at it: one that passes on as it is
 * costs little more than its headers.
 */
class LazyResponse extends Base {
  readonly #status: number;
  readonly #bytes: (() => AsyncIterable<Uint8Array>) | null;
  #opened: Response | null = null;

  constructor(status: number, headers: Headers, bytes: (() => AsyncIterable<Uint8Array>) | null) {
    super(null, { status: status < 200 ? 200 : status, headers });
    this.#status = status;
    this.#bytes = bodiless.has(status) ? null : bytes;
  }

  /** Somebody has looked at the body. */
  static isOpened(response: LazyResponse): boolean {
    return response.#opened !== null;
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

/** @param body as of the reply, or what it is written as. */
export function toResponse({ status, headers }: Reply, body: Uint8Array | ByteStream | null): Response {
  const response = new LazyResponse(status, headersFrom(headers), body && (() => chunksOf(body)));
  return response as unknown as Response;
}

/** True for a response that `toResponse` gave, and whose body is as it was. */
export function isUnopened(response: Response): boolean {
  const given: unknown = response;
  return given instanceof LazyResponse && !LazyResponse.isOpened(given);
}

async function* chunksOf(body: Uint8Array | ByteStream): AsyncIterable<Uint8Array> {
  if (body instanceof Uint8Array) yield body;
  else yield* body;
}
