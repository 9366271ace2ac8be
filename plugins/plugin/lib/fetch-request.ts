import type { Call, HeaderBag, RequestBody } from '#contract';
import { BUFFER_LIMIT_BYTES, readableRequest } from './bodies.ts';
import { streamOf } from './fetch-bodies.ts';
import { headersFrom } from './fetch-headers.ts';

/** What a request of ours is made of. */
export interface RequestFields {
  readonly method: string;
  readonly headers: HeaderBag;
  readonly body: RequestBody | null;
}

/** The headers that every request has of its own. */
const ownHeaders = Object.getOwnPropertyDescriptor(Request.prototype, 'headers')!.get!;

/** True for a request of the gateway's whose headers nobody has looked at: they are what they were. */
export function hasUnseenHeaders(request: Request): boolean {
  const given: unknown = request;
  return given instanceof GatewayRequest && !GatewayRequest.isSeen(given);
}

/** The types say that its members are plain fields, which no class could bring in another way. */
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
 * A request of the gateway's as handlers of `fetch` know it. Its body is taken when somebody reads; what reads all of it into
 * memory reads 1 MiB at most, unless the stream itself is read.
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

  /** Somebody has looked at the headers, and may have changed them. */
  static isSeen(request: GatewayRequest): boolean {
    return request.#isSeen;
  }

  get headers(): Headers {
    this.#isSeen = true;
    return ownHeaders.call(this) as Headers;
  }

  /** Aborted when the client leaves or the time is over. */
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
 * @param more fields of its own.
 * @throws TypeError for a method or an address that a request of `fetch` cannot have.
 */
export function gatewayRequest<More extends object>(
  url: string,
  fields: RequestFields,
  call: Call,
  more?: More,
): Request & More {
  return Object.assign(new GatewayRequest(url, fields, call), more) as unknown as Request & More;
}
