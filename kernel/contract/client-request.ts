import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestBody } from './body.ts';
import type { EndpointConfig } from './config.ts';
import { HeaderBag } from './headers.ts';
import { Query } from './query.ts';

/**
 * Path variables, decoded. Keys are as components see them: the declared name with its first letter in upper case
 * (`{id_user}` is `Id_user`); the rest a `/*` endpoint matched is `Wildcard`.
 */
export type Params = Record<string, string>;

/** What the client sent. Wraps around the endpoint may change headers and body; for anything else they make another one. */
export interface ClientRequest {
  readonly method: string;
  /** Path as on the wire, not decoded, without the query. */
  readonly path: string;
  /** Query as on the wire, without `?`. */
  readonly search: string;
  /** Empty before the endpoint is known. */
  readonly params: Params;
  /** Every query parameter, decoded; parsed at first use. */
  readonly query: Query;
  readonly headers: HeaderBag;
  /** The client's address, after the trusted-proxy rule. */
  readonly ip: string;
  /** The `Host` the client used. */
  readonly host: string;
  /** True when the client's connection is encrypted. */
  readonly secure: boolean;
  /** What the client has shown, where it must show one (`enable_mtls`) and it is known; null for none. */
  readonly certificate: X509Certificate | null;
  /** The protocol that the connection could go on in, as the client asks, in lower case; null for none. */
  readonly upgrade: string | null;
  /** The messages of Node it came with, for what has no other way; null for a request that no client has sent. */
  readonly raw: RawMessages | null;
  /** Null when the request has none. */
  body: RequestBody | null;
  /** The endpoint that would answer; null for none. @param method instead of the request's own. */
  match(method?: string): EndpointConfig | null;
  /** A request like this one but for these parts, to go on with. */
  with(changes: RequestChanges): ClientRequest;
}

/** What Node has made of a request, and writes its answer with. */
export interface RawMessages {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Parts of a request. */
export interface RequestChanges {
  readonly method?: string;
  readonly path?: string;
  /** Without `?`. */
  readonly search?: string;
  readonly params?: Params;
  readonly headers?: HeaderBag;
  readonly ip?: string;
  readonly host?: string;
  readonly body?: RequestBody | null;
}

/** Finds the endpoint that answers; null for none. */
export type FindEndpoint = (method: string, path: string, host: string) => EndpointConfig | null;

const noParams: Params = Object.freeze({});

/** Everything a request is made from. */
interface RequestFields extends RequestChanges {
  readonly secure?: boolean;
  readonly certificate?: X509Certificate | null;
  readonly upgrade?: string | null;
  readonly raw?: RawMessages | null;
}

/** A request that no client has sent: for `site.dispatch`, for pipes and for tests. Default: `GET /`, from nowhere. */
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

/** A request with some parts of another one. Its headers and its body are those of the other until they are replaced. */
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
