import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { type ClientRequest, HeaderBag, type Params, Query, type RequestBody } from '#contract';

/** The client's request as the pipe sees it, over Node's message; everything costly is made at first use. */
export class HttpRequest implements ClientRequest {
  readonly path: string;
  readonly search: string;
  readonly params: Params;
  body: RequestBody | null;
  readonly #message: IncomingMessage;
  readonly #ipOf: (message: IncomingMessage) => string;
  #headers: HeaderBag | null = null;
  #query: Query | null = null;
  #ip: string | null = null;

  constructor(
    message: IncomingMessage,
    path: string,
    search: string,
    params: Params,
    body: RequestBody | null,
    ipOf: (message: IncomingMessage) => string,
  ) {
    this.#message = message;
    this.path = path;
    this.search = search;
    this.params = params;
    this.body = body;
    this.#ipOf = ipOf;
  }

  get method(): string {
    return this.#message.method!;
  }

  get headers(): HeaderBag {
    this.#headers ??= new HeaderBag(this.#message.rawHeaders);
    return this.#headers;
  }

  get query(): Query {
    this.#query ??= Query.parse(this.search);
    return this.#query;
  }

  get ip(): string {
    this.#ip ??= this.#ipOf(this.#message);
    return this.#ip;
  }

  get host(): string {
    return this.#message.headers.host ?? '';
  }

  get secure(): boolean {
    return (this.#message.socket as TLSSocket | null)?.encrypted === true;
  }
}
