import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Call,
  CallError,
  type ClientHandler,
  discard,
  HandlerError,
  type PipeRequest,
  type Reply,
  type Step,
  type Wrap,
} from '#contract';
import { ContextView } from './context.ts';
import { failedBy, isFailure, NextFailed, noAnswer } from './failure.ts';
import { bodyOfMessage } from './fetch-bodies.ts';
import { takeHeaders } from './fetch-headers.ts';
import { gatewayRequest, hasUnseenHeaders } from './fetch-request.ts';
import { NoResponse, Responses } from './fetch-response.ts';
import type { Made } from './make.ts';
import { elsewhere, type SyncTime } from './sync-time.ts';

const calls = new AsyncLocalStorage<ClientCall>();

/**
 * Sends a request through the gateway's own client for the current call, with its cache, credentials, TLS and traces.
 * @throws Error outside of a call. @throws CallError if the call fails; if uncaught, it becomes the response as is.
 */
export async function defaultClient(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const call = calls.getStore();
  if (!call) throw new Error('host.defaultClient can only be used while a call is handled');
  return call.send(input, init);
}

/** Replaces the HTTP client by a handler. */
export function replacingClient(made: Made<ClientHandler>, time: SyncTime): Wrap<PipeRequest> {
  return (next) => (request, call) => new ClientCall(next, request, call).run(made, time);
}

/** One backend call through a handler. */
class ClientCall {
  readonly #next: Step<PipeRequest>;
  readonly #request: PipeRequest;
  readonly #call: Call;
  readonly #responses = new Responses();
  #requested: Request | null = null;
  #isOver = false;

  constructor(next: Step<PipeRequest>, request: PipeRequest, call: Call) {
    this.#next = next;
    this.#request = request;
    this.#call = call;
  }

  async run({ name, handle }: Made<ClientHandler>, time: SyncTime): Promise<Reply> {
    try {
      const requested = this.#makeRequest();
      this.#requested = requested;
      const context = new ContextView(this.#call, this.#request.client);
      const given = await calls.run(this, () => time.run(() => handle(requested, context)));
      return this.#end(this.#responses.take(given));
    } catch (error) {
      if (error instanceof CallError) return this.#end(failedBy(error, name));
      // Inner responses are kept until the call ends, because one of them may still become the final response.
      this.#call.onEnd(() => this.#end(null));
      if (error instanceof NoResponse) throw noAnswer(error.given);
      throw new HandlerError('PLUGIN_ERROR', error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  /** Sends a request through the gateway's client. */
  async send(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const given = input instanceof Request && !init ? input : new Request(input, init);
    const request = this.#request.copy();
    request.method = given.method;
    if (given.url !== this.#requested!.url) {
      const { protocol, host, pathname, search } = new URL(given.url);
      request.origin = `${protocol}//${host}`;
      request.target = pathname + search;
    }
    if (!(given === this.#requested && hasUnseenHeaders(given))) takeHeaders(request.headers, given.headers);
    // A body that the handler did not read is forwarded unchanged, with its length.
    if (given.body !== this.#requested!.body || given.bodyUsed) request.body = bodyOfMessage(given, this.#call);
    const reply = await elsewhere(() => this.#next(request, this.#call));
    if (isFailure(reply)) throw new NextFailed(reply);
    if (this.#isOver) discard(reply.body);
    return this.#responses.add(reply);
  }

  /** @throws TypeError for a method or an address that a `fetch` request cannot have. */
  #makeRequest(): Request {
    const { method, origin, target, headers, body } = this.#request;
    return gatewayRequest(origin + target, { method, headers, body }, this.#call);
  }

  #end<R extends Reply | null>(reply: R): R {
    this.#isOver = true;
    for (const rest of this.#responses.rest()) if (rest.body !== reply?.body) discard(rest.body);
    return reply;
  }
}
