import type { Duplex } from 'node:stream';
import { brand } from '../values/brand.ts';
import type { DataObject } from '../values/data.ts';
import type { RequestBody } from './body.ts';
import type { ByteStream } from './bytes.ts';
import type { ClientRequest, Params } from './client-request.ts';
import { BackendError, type CallError } from './errors.ts';
import { HeaderBag } from './headers.ts';
import { Query } from './query.ts';

/** Key of a path parameter in `Params`. */
export function paramKey(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/**
 * The request inside the pipe. In the proxy phase it contains what the endpoint forwards; in the backend phase it is
 * one backend's own copy, with its address and path. The wrap that holds it can modify it.
 */
export class PipeRequest {
  /** The unfiltered client request. */
  readonly client: ClientRequest;
  /** Method of the client, or in the backend phase of the backend. */
  method: string;
  /** Base URL of the selected backend host, for example `http://host:port`; empty in the proxy phase. */
  origin = '';
  /** Encoded path and query of the backend request; empty in the proxy phase. */
  target = '';
  /** The `Host` header to send; null uses the host of the URL. */
  host: string | null = null;
  params: Params;
  /** Forwarded query parameters. */
  query: Query;
  /** Forwarded headers, and the gateway's own. */
  headers: HeaderBag;
  body: RequestBody | null;
  /** Replies of earlier backends of a sequential endpoint, by position. */
  earlier: readonly Reply[] = noReplies;

  constructor(client: ClientRequest, params: Params, query: Query, headers: HeaderBag, body: RequestBody | null) {
    this.client = client;
    this.method = client.method;
    this.params = params;
    this.query = query;
    this.headers = headers;
    this.body = body;
  }

  /** A copy whose headers, query and params can be modified independently. */
  copy(): PipeRequest {
    const copy = new PipeRequest(
      this.client,
      { ...this.params },
      this.query.size === 0 ? new Query() : this.query.copy(),
      this.headers.copy(),
      this.body,
    );
    copy.method = this.method;
    copy.origin = this.origin;
    copy.target = this.target;
    copy.host = this.host;
    copy.earlier = this.earlier;
    return copy;
  }
}

/**
 * The result of a step. A failed call is a reply with `errors`, so no step throws on purpose.
 *
 * - A decoded reply has `data`, a raw one (`no-op` and streams) has `body`; an error or rejection may have neither.
 * - `headers` are sent to the client; a decoded reply starts without any.
 */
export class Reply {
  status: number;
  headers: HeaderBag;
  data: DataObject | null = null;
  body: Uint8Array | ByteStream | null = null;
  /**
   * For a decoded reply: true if all parts were decoded. Null for a rejection before the pipe, which has no
   * completeness header.
   */
  complete: boolean | null = false;
  /** Whether the backend was deliberately not called, which is neither a success nor a failure. */
  skipped = false;
  /**
   * Trailers, sent over HTTP/2 and to clients that send `TE: trailers`. A function is called once the body has been
   * written and must be synchronous.
   */
  trailers: HeaderBag | (() => HeaderBag) | null = null;
  /**
   * Status for logs and metrics of a protocol that reports its outcome after the body. Such a reply is written as is
   * and never passed to Koa middleware. Null for other replies.
   */
  outcome: number | null = null;
  /** The body lasts as long as the client reads: it has no deadline and is ended gracefully when the gateway closes. */
  lasts = false;
  /** Switches the connection to another protocol: the client receives 101 and these headers only. */
  upgrade: Upgrade | null = null;
  /** Errors on the way to this reply, in order. */
  errors: readonly CallError[] = noErrors;

  constructor(status: number, headers: HeaderBag = new HeaderBag()) {
    this.status = status;
    this.headers = headers;
  }

  static data(data: DataObject | null, complete = true): Reply {
    const reply = new Reply(200);
    reply.data = data;
    reply.complete = complete;
    return reply;
  }

  static raw(status: number, headers: HeaderBag, body: Uint8Array | ByteStream | null): Reply {
    const reply = new Reply(status, headers);
    reply.body = body;
    return reply;
  }

  /** Creates the reply that accepts an upgrade (`ClientRequest.upgrade`), at an endpoint that declares it. */
  static upgraded(upgrade: Upgrade, headers?: HeaderBag): Reply {
    const reply = new Reply(101, headers);
    reply.upgrade = upgrade;
    reply.complete = null;
    return reply;
  }

  /** A failure. Status: the one that a single error defines for the client, otherwise 500. */
  static failed(...errors: readonly CallError[]): Reply {
    const reply = new Reply(errors.length === 1 ? (errors[0]!.view.status ?? 500) : 500);
    reply.errors = errors;
    return reply;
  }

  /** Status returned by a backend; undefined if the call failed before. */
  get upstreamStatus(): number | undefined {
    if (this.errors.length === 0) return this.status;
    for (const error of this.errors) {
      if (error instanceof BackendError && error.upstreamStatus !== undefined) return error.upstreamStatus;
    }
    return undefined;
  }

  /** True if the reply contains only errors. */
  get failed(): boolean {
    return this.errors.length > 0 && this.data === null && this.body === null;
  }
}

const noErrors: readonly CallError[] = Object.freeze([]);
const noReplies: readonly Reply[] = Object.freeze([]);

brand({ Reply });

/** Handles a client connection after it has switched to another protocol. */
export interface Upgrade {
  /**
   * Takes over the connection and must close it; its errors are already handled.
   * @param head bytes received after the request.
   */
  take(connection: Duplex, head: Buffer): void;
  /**
   * Called at most once, when the endpoint has changed or the gateway closes: ends the connection gracefully.
   * Connections still open 5 seconds later are cut. Default: no more data is sent.
   */
  end?(): void;
}
