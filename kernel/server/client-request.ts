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
import { changed } from '../contract/internal.ts';
import { certificateOf } from './client-certificate.ts';

/** What the requests of one configuration have in common. */
export interface RequestContext {
  readonly ipOf: (message: IncomingMessage) => string;
  readonly findEndpoint: FindEndpoint;
}

/** Where a request comes from: opens its body, under the limits of what answers it. */
export interface RequestSource {
  openBody(): RequestBody | null;
  /** The endpoint it leads to; null when there is none. Found once. */
  readonly endpoint: EndpointConfig | null;
  /** As of `ClientRequest.upgrade`. */
  readonly upgrade: string | null;
  readonly response: ServerResponse;
}

const noParams: Params = Object.freeze({});

/** The client's request as the pipe sees it, over Node's message; everything costly is made at first use. */
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
