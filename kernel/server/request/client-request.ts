import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import {
  type ClientRequest,
  type EndpointConfig,
  type FindEndpoint,
  HeaderBag,
  type Params,
  Query,
  type RawMessages,
  type RequestBody,
  type RequestChanges,
} from '#contract';
import { changed } from '../../contract/internal.ts';
import { certificateOf } from '../port/client-certificate.ts';

/** Settings shared by all requests of one configuration. */
export interface RequestContext {
  readonly ipOf: (message: IncomingMessage) => string;
  readonly findEndpoint: FindEndpoint;
}

/** Origin of a request: opens its body, under the limits of the endpoint that handles it. */
export interface RequestSource {
  openBody(): RequestBody | null;
  /** The endpoint that the request matches; null for none. Looked up once. */
  readonly endpoint: EndpointConfig | null;
  /** Protocol of a requested upgrade, in lowercase; null without one. */
  readonly upgrade: string | null;
  readonly response: ServerResponse;
}

const noParams: Params = Object.freeze({});

/**
 * The client's request as the pipe sees it, on top of Node's message. Expensive properties are computed on first use.
 */
export class HttpRequest implements ClientRequest {
  readonly path: string;
  readonly search: string;
  params: Params = noParams;
  readonly #message: IncomingMessage;
  readonly #context: RequestContext;
  readonly #source: RequestSource;
  #headers: HeaderBag | null = null;
  #query: Query | null = null;
  #ip: string | null = null;
  #body: RequestBody | null | undefined = undefined;

  constructor(message: IncomingMessage, path: string, search: string, context: RequestContext, source: RequestSource) {
    this.#message = message;
    this.path = path;
    this.search = search;
    this.#context = context;
    this.#source = source;
  }

  get method(): string {
    return this.#message.method!;
  }

  get body(): RequestBody | null {
    if (this.#body === undefined) this.#body = this.#source.openBody();
    return this.#body;
  }

  set body(body: RequestBody | null) {
    this.#body = body;
  }

  get headers(): HeaderBag {
    this.#headers ??= new HeaderBag(this.#message.rawHeaders);
    return this.#headers;
  }

  set headers(headers: HeaderBag) {
    this.#headers = headers;
  }

  get query(): Query {
    this.#query ??= Query.parse(this.search);
    return this.#query;
  }

  get ip(): string {
    this.#ip ??= this.#context.ipOf(this.#message);
    return this.#ip;
  }

  get host(): string {
    return this.#message.headers.host ?? '';
  }

  get secure(): boolean {
    return (this.#message.socket as TLSSocket | null)?.encrypted === true;
  }

  get certificate(): X509Certificate | null {
    return certificateOf(this.#message);
  }

  get upgrade(): string | null {
    return this.#source.upgrade;
  }

  get raw(): RawMessages {
    return { request: this.#message, response: this.#source.response };
  }

  match(method = this.method): EndpointConfig | null {
    if (method === this.method) return this.#source.endpoint;
    return this.#context.findEndpoint(method, this.path, this.host);
  }

  with(changes: RequestChanges): ClientRequest {
    return changed(this, changes, this.#context.findEndpoint);
  }
}
