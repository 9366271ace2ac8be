import type { Call, HeaderBag, RequestBody } from '#contract';
import { BUFFER_LIMIT_BYTES, readableRequest } from './bodies.ts';
import { streamOf } from './fetch-bodies.ts';
import { headersFrom } from './fetch-headers.ts';

/** Data of a gateway request. */
export interface RequestFields {
  readonly method: string;
  readonly headers: HeaderBag;
  readonly body: RequestBody | null;
}

/** The built-in `headers` getter of requests. */
const ownHeaders = Object.getOwnPropertyDescriptor(Request.prototype, 'headers')!.get!;

/** Returns whether the headers of a gateway request have not been accessed, so that they are unchanged. */
export function hasUnseenHeaders(request: Request): boolean {
  const given: unknown = request;
  return given instanceof GatewayRequest && !GatewayRequest.isSeen(given);
}

/** The type declarations describe members as plain fields, which a subclass could not override otherwise. */
const Base = Request as unknown as new (
  url: string,
  init: object,
) => {
  arrayBuffer(): Promise<ArrayBuffer>;
  blob(): Promise<Blob>;
  bytes(): Promise<Uint8Array>;
  formData(): Promise<FormData>;
  json(): Promise<unknown>;
  text(): Promise<string>;
};

/**
 * A gateway request in the form that `fetch` handlers expect. Its body is taken on first read; methods that read it
 * whole into memory accept at most 1 MiB, unless the stream itself is read.
 */
class GatewayRequest extends Base {
  readonly #body: RequestBody | null;
  readonly #call: Call;
  #isSeen = false;

  constructor(url: string, { method, headers, body }: RequestFields, call: Call) {
    const hasBody = body !== null && method !== 'GET' && method !== 'HEAD';
    const stream = hasBody ? { body: streamOf(() => readableRequest(body)), duplex: 'half' } : {};
    super(url, { method, headers: headersFrom(headers), redirect: 'manual', ...stream });
    this.#body = hasBody ? body : null;
    this.#call = call;
  }

  /** Returns whether the headers have been accessed and may have been changed. */
  static isSeen(request: GatewayRequest): boolean {
    return request.#isSeen;
  }

  get headers(): Headers {
    this.#isSeen = true;
    return ownHeaders.call(this) as Headers;
  }

  /** Aborted when the client disconnects or the time limit is reached. */
  get signal(): AbortSignal {
    return this.#call.signal;
  }

  override async arrayBuffer(): Promise<ArrayBuffer> {
    this.#limit();
    return super.arrayBuffer();
  }

  override async blob(): Promise<Blob> {
    this.#limit();
    return super.blob();
  }

  override async bytes(): Promise<Uint8Array> {
    this.#limit();
    return super.bytes();
  }

  override async formData(): Promise<FormData> {
    this.#limit();
    return super.formData();
  }

  override async json(): Promise<unknown> {
    this.#limit();
    return super.json();
  }

  override async text(): Promise<string> {
    this.#limit();
    return super.text();
  }

  #limit(): void {
    this.#body?.restrict(BUFFER_LIMIT_BYTES);
  }
}

/**
 * @param more additional fields.
 * @throws TypeError for a method or an address that a `fetch` request cannot have.
 */
export function gatewayRequest<More extends object>(
  url: string,
  fields: RequestFields,
  call: Call,
  more?: More,
): Request & More {
  return Object.assign(new GatewayRequest(url, fields, call), more) as unknown as Request & More;
}
