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

/** Information about a request in addition to the request itself. */
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
  /** Trace of the request; null if tracing is off. */
  readonly span: { readonly traceId: string; readonly spanId: string } | null;
}

/**
 * Request of an endpoint, or to a backend. Its fields can be read and changed; changes take effect once the handler returns
 * or calls `next`.
 */
export interface PluginRequest {
  method: string;
  /** URL of the backend to call; for a request of an endpoint, the path and query that the client sent. */
  url: string;
  path: string;
  /** Path parameters; `id` and `Id` name the same one. */
  params: Record<string, string>;
  query: Record<string, string[]>;
  /** Values of each header, in order. Names are case-insensitive. */
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
 * Response of an endpoint, or of a backend. A decoded response consists of `data`, `isComplete` and `headers`; a
 * response whose bytes are passed through (`no-op`) consists of `io`, `statusCode` and `headers`.
 */
export interface PluginResponse {
  data: DataObject | null;
  isComplete: boolean;
  statusCode: number;
  /** Values of each header, in order. Names are case-insensitive. */
  headers: Record<string, string[]>;
  /** The bytes, which can be read once; null for a decoded response. */
  get io(): Readable | null;
  set io(given: GivenBody);
}

/** Response that is passed to a response modifier. */
export interface ModifiedResponse extends PluginResponse {
  /** The request of this response. Changes to it have no effect. */
  readonly request: PluginRequest;
  readonly context: ModuleContext;
}

/** Request that a handler creates, or a copy with changes. Missing fields keep their values. */
export interface GivenRequest {
  readonly method?: string;
  readonly url?: string | URL;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: GivenBody;
}

/** Response that a handler creates, or a copy with changes. */
export interface GivenResponse {
  readonly data?: DataObject | null;
  readonly isComplete?: boolean;
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly io?: GivenBody;
}

/** Request that is passed to an HTTP server handler: a `Request` of the fetch API with additional members. */
export interface ServerRequest extends Request {
  /** Node.js request and response; null for a request that no client has sent. */
  readonly raw: RawMessages | null;
  /** Path as sent by the client, even if handlers have changed it since. */
  readonly originalPath: string;
  /** Values shared by all modules of one request. */
  readonly state: Map<string, unknown>;
}

/** A failed call, as passed to `onError` of a response modifier. */
export interface Failure {
  /** Status that the client gets. */
  readonly statusCode: number;
  readonly message: string;
}
