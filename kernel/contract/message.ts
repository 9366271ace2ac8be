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
 * What comes back. A failed call is a reply too: it has `errors`, so no step throws on purpose.
 *
 * - A decoded reply has `data`, a raw one (`no-op` and the streams) has `body`; an error or a refusal may have neither.
 * - `headers` are what the client gets; a decoded reply starts with none.
 */
export class Reply {
  status: number;
  headers: HeaderBag;
  data: DataObject | null = null;
  body: Uint8Array | ByteStream | null = null;
  /**
   * For a decoded reply: every part was decoded. Null for a refusal made before the pipe, which carries no completeness
   * header.
   */
  complete: boolean | null = false;
  /** True for a backend that was deliberately not called; it counts neither as a success nor as a failure. */
  skipped = false;
  /**
   * What is said behind the body, over HTTP/2 and to clients that send `TE: trailers`; a function is called once the body is
   * written, and must not wait.
   */
  trailers: HeaderBag | (() => HeaderBag) | null = null;
  /**
   * The reply is in a protocol that says behind the body how its call has ended: the status that stands for that, in logs and
   * counters. Such a reply is written as it is, and never left to Koa middleware. Null for any other.
   */
  outcome: number | null = null;
  /**
   * The body goes on for as long as the client listens: no deadline holds for it, and it is ended in order when the gateway
   * closes.
   */
  lasts = false;
  /** The connection goes on in another protocol: the client is told 101 and these headers, and nothing else. */
  upgrade: Upgrade | null = null;
  /** What failed on the way to this reply, in order; empty when nothing did. */
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

  /** The answer to a request for another protocol, `ClientRequest.upgrade`, by an endpoint that declares it. */
  static upgraded(upgrade: Upgrade, headers?: HeaderBag): Reply {
    const reply = new Reply(101, headers);
    reply.upgrade = upgrade;
    reply.complete = null;
    return reply;
  }

  /** A failure. Status: what a single error wants the client to see, else 500. */
  static failed(...errors: readonly CallError[]): Reply {
    const reply = new Reply(errors.length === 1 ? (errors[0]!.view.status ?? 500) : 500);
    reply.errors = errors;
    return reply;
  }

  /** The status a backend really gave; undefined when the call failed before it gave one. */
  get upstreamStatus(): number | undefined {
    if (this.errors.length === 0) return this.status;
    for (const error of this.errors) {
      if (error instanceof BackendError && error.upstreamStatus !== undefined) return error.upstreamStatus;
    }
    return undefined;
  }

  /** True when the reply holds nothing but errors. */
  get failed(): boolean {
    return this.errors.length > 0 && this.data === null && this.body === null;
  }
}

const noErrors: readonly CallError[] = Object.freeze([]);
const noReplies: readonly Reply[] = Object.freeze([]);

brand({ Reply });

/** What becomes of a client's connection once the client has been told that it goes on in another protocol. */
export interface Upgrade {
  /**
   * Takes the connection, which is closed by whoever takes it; its errors are listened for already.
   * @param head bytes that came behind the request.
   */
  take(connection: Duplex, head: Buffer): void;
  /**
   * Its endpoint has changed, or the gateway closes: ends the connection as its protocol does. Called once at most; what is
   * left five seconds later is cut. Default: nothing more is sent.
   */
  end?(): void;
}
