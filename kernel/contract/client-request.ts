import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestBody } from './body.ts';
import type { EndpointConfig } from './config.ts';
import { HeaderBag } from './headers.ts';
import { Query } from './query.ts';

/**
 * Decoded path parameters. Keys have their first letter in uppercase (`{id_user}` is `Id_user`); the rest of the path
 * matched by `/*` is `Wildcard`.
 */
export type Params = Record<string, string>;

/**
 * Request of the client. Wraps around the endpoint can modify headers and body; other changes require a new request.
 */
export interface ClientRequest {
  readonly method: string;
  /** Undecoded path without the query. */
  readonly path: string;
  /** Undecoded query without `?`. */
  readonly search: string;
  /** Path variables; empty until the endpoint is known. */
  readonly params: Params;
  /** Decoded query parameters, parsed on first use. */
  readonly query: Query;
  readonly headers: HeaderBag;
  /** The client's IP address, after applying the trusted-proxy rules. */
  readonly ip: string;
  /** `Host` header sent by the client. */
  readonly host: string;
  /** True if the client's connection is encrypted. */
  readonly secure: boolean;
  /** The client certificate, if one is required (`enable_mtls`) and known; otherwise null. */
  readonly certificate: X509Certificate | null;
  /** Protocol of a requested upgrade, in lowercase; null without one. */
  readonly upgrade: string | null;
  /** Underlying Node.js messages, as a last resort; null for requests that no client sent. */
  readonly raw: RawMessages | null;
  /** Body of the request; null if the request has none. */
  body: RequestBody | null;
  /** The endpoint that would serve the request; null if none does. @param method replaces the request's method. */
  match(method?: string): EndpointConfig | null;
  /** A copy of this request with some parts replaced. */
  with(changes: RequestChanges): ClientRequest;
}

/** Node.js request and response objects. */
export interface RawMessages {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Replaceable parts of a request. */
export interface RequestChanges {
  readonly method?: string;
  readonly path?: string;
  /** Query string without `?`. */
  readonly search?: string;
  readonly params?: Params;
  readonly headers?: HeaderBag;
  readonly ip?: string;
  readonly host?: string;
  readonly body?: RequestBody | null;
}

/** Finds the endpoint that serves a request; null if none does. */
export type FindEndpoint = (method: string, path: string, host: string) => EndpointConfig | null;

const noParams: Params = Object.freeze({});

/** Constructor arguments of a client request. */
interface RequestFields extends RequestChanges {
  readonly secure?: boolean;
  readonly certificate?: X509Certificate | null;
  readonly upgrade?: string | null;
  readonly raw?: RawMessages | null;
}

/** Creates a request that no client sent: for `site.dispatch`, pipes and tests. Default: `GET /` without an address. */
export function makeRequest(fields: RequestFields, find?: FindEndpoint): ClientRequest {
  return new MadeRequest(fields, find);
}

class MadeRequest implements ClientRequest {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly params: Params;
  readonly headers: HeaderBag;
  readonly ip: string;
  readonly host: string;
  readonly secure: boolean;
  readonly certificate: X509Certificate | null;
  readonly upgrade: string | null;
  readonly raw: RawMessages | null;
  body: RequestBody | null;
  readonly #find: FindEndpoint | undefined;
  #query: Query | null = null;

  constructor(fields: RequestFields, find: FindEndpoint | undefined) {
    this.method = fields.method ?? 'GET';
    this.path = fields.path ?? '/';
    this.search = fields.search ?? '';
    this.params = fields.params ?? noParams;
    this.headers = fields.headers ?? new HeaderBag();
    this.ip = fields.ip ?? '';
    this.host = fields.host ?? '';
    this.secure = fields.secure ?? false;
    this.certificate = fields.certificate ?? null;
    this.upgrade = fields.upgrade ?? null;
    this.raw = fields.raw ?? null;
    this.body = fields.body ?? null;
    this.#find = find;
  }

  get query(): Query {
    this.#query ??= Query.parse(this.search);
    return this.#query;
  }

  match(method = this.method): EndpointConfig | null {
    return this.#find?.(method, this.path, this.host) ?? null;
  }

  with(changes: RequestChanges): ClientRequest {
    return changed(this, changes, this.#find);
  }
}

/**
 * A copy of a request with some parts replaced. It shares headers and body with the original until they are replaced.
 */
export function changed(
  request: ClientRequest,
  changes: RequestChanges,
  find: FindEndpoint | undefined,
): ClientRequest {
  const { method, path, search, params, headers, ip, host, secure, certificate, upgrade, raw } = request;
  const body = changes.body === undefined ? request.body : changes.body;
  const kept = { method, path, search, params, headers, ip, host, secure, certificate, upgrade, raw };
  return new MadeRequest({ ...kept, ...changes, body }, find);
}
