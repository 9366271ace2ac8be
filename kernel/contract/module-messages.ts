import type { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { Data, DataObject } from '../values/data.ts';
import type { RawMessages } from './client-request.ts';

/** Body that a handler may set: a text, bytes or a stream of bytes. */
export type GivenBody = string | Uint8Array | Readable | ReadableStream | AsyncIterable<unknown> | null | undefined;

/** Limits for reading a body into memory. */
export interface BufferOptions {
  /** Longest body, in bytes; a longer one is rejected with 413. Default: 1 MiB. */
  readonly limit?: number;
}

/** Facts about a request in addition to the request itself. */
export interface ModuleContext {
  /** Aborted when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal;
  /** Time at which the request is aborted, in milliseconds since 1970; `Infinity` without a limit. */
  readonly deadline: number;
  /** Values shared by all modules of one request. */
  readonly state: Map<string, unknown>;
  /** Claims of the validated token; null without one. */
  readonly claims: Readonly<DataObject> | null;
  /** Address of the client, after the trusted-proxy rule. */
  readonly clientIp: string;
  /** The client's `X-Request-Id`, else a random one: the same for all modules of a request. */
  readonly requestId: string;
  /** Trace of the request; null where tracing is off. */
  readonly span: { readonly traceId: string; readonly spanId: string } | null;
}

/**
 * Request of an endpoint, or to a backend. Its fields can be read and changed; changes take effect once the handler returns
 * or calls `next`.
 */
export interface PluginRequest {
  method: string;
  /** Address that a backend is called at; of an endpoint, the path and query of the client. */
  url: string;
  path: string;
  /** Path parameters; `id` and `Id` name the same one. */
  params: Record<string, string>;
  query: Record<string, string[]>;
  /** Values of each header, in order. Names are matched in any case. */
  headers: Record<string, string[]>;
  /** The bytes, which can be read once; null without a body. */
  get body(): Readable | null;
  set body(given: GivenBody);
  /** Reads the whole body, which stays available to others. @throws CallError PAYLOAD_TOO_LARGE, 413. */
  text(options?: BufferOptions): Promise<string>;
  /** Reads and decodes the whole body. @throws Error with `statusCode` 400 for a body that is not JSON. */
  json(options?: BufferOptions): Promise<Data>;
}

/**
 * Response of an endpoint, or of a backend. `data`, `isComplete` and `headers` count where the response is decoded; `io`,
 * `statusCode` and `headers` where its bytes pass undecoded (`no-op`).
 */
export interface PluginResponse {
  data: DataObject | null;
  isComplete: boolean;
  statusCode: number;
  /** Values of each header, in order. Names are matched in any case. */
  headers: Record<string, string[]>;
  /** The bytes, which can be read once; null where they are decoded. */
  get io(): Readable | null;
  set io(given: GivenBody);
}

/** Response as a response modifier gets it. */
export interface ModifiedResponse extends PluginResponse {
  /** The request that was answered. Changes to it have no effect. */
  readonly request: PluginRequest;
  readonly context: ModuleContext;
}

/** Request that a handler makes itself, or a copy with changes. Missing fields stay as they are. */
export interface GivenRequest {
  readonly method?: string;
  readonly url?: string | URL;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: GivenBody;
}

/** Response that a handler makes itself, or a copy with changes. */
export interface GivenResponse {
  readonly data?: DataObject | null;
  readonly isComplete?: boolean;
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly io?: GivenBody;
}

/** Request as an HTTP server handler gets it: one of `fetch`, and more. */
export interface ServerRequest extends Request {
  /** Node's own messages; null for a request that no client has sent. */
  readonly raw: RawMessages | null;
  /** Path as the client wrote it, whatever handlers have made of it. */
  readonly originalPath: string;
  /** Values shared by all modules of one request. */
  readonly state: Map<string, unknown>;
}

/** Failed call, as `onError` of a response modifier gets it. */
export interface Failure {
  /** Status that the client gets. */
  readonly statusCode: number;
  readonly message: string;
}
