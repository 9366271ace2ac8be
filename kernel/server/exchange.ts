import type { IncomingMessage, ServerResponse } from 'node:http';
import type Koa from 'koa';
import {
  type AccessRecord,
  Call,
  CallError,
  CancelledError,
  type EndpointConfig,
  type Log,
  type Params,
  Reply,
  type RequestBody,
  type RouterOptions,
  toCallError,
} from '#contract';
import { drop } from '../pipeline/answering.ts';
import type { Stream } from '../pipeline/hold.ts';
import { type Answer, type Rendering, render, renderError } from '../pipeline/render.ts';
import type { Route } from '../pipeline/route.ts';
import type { InFlight, Runtime } from '../runtime/runtime.ts';
import type { FallbackAnswers } from './answers.ts';
import type { BuiltIn, BuiltIns } from './builtin.ts';
import type { ClientBody } from './client-body.ts';
import { HttpRequest } from './client-request.ts';
import { compress, wantsGzip } from './compression.ts';
import { FinishedRequest } from './finished-request.ts';
import { handToKoa, yieldToContext } from './koa-reply.ts';
import { INFLATED_LIMIT_BYTES, limitBody, receiveBody } from './request-body.ts';
import type { Outcome, Router } from './router.ts';
import { parseTarget, type Target } from './target.ts';
import { tellErrors } from './tell-errors.ts';
import { isStreamed, writeAnswer } from './write.ts';

/** What the exchanges of one runtime share. */
export interface ExchangeParts {
  readonly router: Router;
  readonly rendering: Rendering;
  readonly fallbacks: FallbackAnswers;
  readonly builtIns: BuiltIns;
  readonly ipOf: (message: IncomingMessage) => string;
  readonly options: RouterOptions;
  /** Service-level middleware stands around the exchange and may have set headers. */
  readonly wrapped: boolean;
  /** The answer is handed to Koa instead of being written at once. */
  readonly throughKoa: boolean;
  readonly runtime: Runtime;
  readonly log: Log;
}

/** A message on its way through Koa, with its exchange. */
export interface Carrier extends IncomingMessage {
  [carried]?: Exchange;
}

export const carried = Symbol('exchange');

const badTarget: Outcome = { kind: 'refused', text: 'error: invalid request target' };
const noParams: Params = Object.freeze({});
/** The status, in logs and counters, of a request whose client left before it was answered. */
const CLIENT_LEFT = 499;
const noErrors: Reply['errors'] = Object.freeze([]);

/** One request and its response: the only place that knows both Node's messages and the pipe's. */
export class Exchange implements InFlight, Stream {
  slot = 0;
  readonly #parts: ExchangeParts;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #startedAt = performance.now();
  readonly #target: Target | null;
  #outcome: Outcome | null = null;
  #call: Call | null = null;
  #client: HttpRequest | null = null;
  #body: ClientBody | null = null;
  #errors: Reply['errors'] = noErrors;
  /** Given to the client in place of what the pipe answers; 0 for nothing. */
  #refusal = 0;
  #counted = false;
  /** Ends a stream in order; null for any other answer. */
  #endStream: (() => void) | null = null;

  constructor(parts: ExchangeParts, message: IncomingMessage, response: ServerResponse) {
    this.#parts = parts;
    this.#message = message;
    this.#response = response;
    this.#target = parseTarget(message.url!);
    // What is asked for in the target is what counts, whatever `Host` says.
    if (this.#target?.host !== undefined) message.headers.host = this.#target.host;
  }

  /** The endpoint this request is for; null when there is none. Found once. */
  match(): EndpointConfig | null {
    const outcome = this.#find();
    return outcome.kind === 'route' ? outcome.route.endpoint : null;
  }

  #find(): Outcome {
    this.#outcome ??= this.#target ? this.#parts.router.find(this.#message.method!, this.#target.path) : badTarget;
    return this.#outcome;
  }

  /** The innermost middleware: answers by an endpoint of the gateway's own, by a declared one, or by refusing. */
  run(context: Koa.Context): void | Promise<void> {
    const { method } = this.#message;
    const path = this.#target?.path ?? '';
    const builtIn = this.#parts.builtIns.find(method!, path);
    if (builtIn) return this.#runBuiltIn(context, builtIn);
    const outcome = this.#find();
    if (outcome.kind === 'route') return this.#serve(context, outcome.route, outcome.params);
    return this.#write(context, this.#fallback(outcome, path));
  }

  async #runBuiltIn(context: Koa.Context, builtIn: BuiltIn): Promise<void> {
    let answer: Answer;
    try {
      const maxPayloadBytes = this.#parts.options.max_payload || INFLATED_LIMIT_BYTES;
      answer = await builtIn(this.#request(noParams, this.#open({ maxPayloadBytes, inflate: false })));
    } catch (error) {
      const failed = Reply.failed(toCallError(error));
      this.#errors = failed.errors;
      tellErrors(failed, this.#parts.log, false);
      answer = renderError(failed, this.#parts.rendering);
    }
    return this.#write(context, answer);
  }

  #fallback(outcome: Exclude<Outcome, { kind: 'route' }>, path: string): Answer {
    const { options, router, rendering, fallbacks, builtIns } = this.#parts;
    const { method, headers } = this.#message;
    if (options.auto_options && method === 'OPTIONS') {
      const allow = router.methodsOf(path);
      if (allow.length > 0) {
        return { status: 200, headers: ['Allow', allow.join(', '), 'X-Gateway', rendering.version], body: null };
      }
    }
    const prefix = headers['x-forwarded-prefix'];
    return fallbacks.of(
      outcome.kind === 'none' ? (builtIns.near(path) ?? outcome) : outcome,
      method!,
      this.#target?.search ?? '',
      typeof prefix === 'string' ? prefix : undefined,
    );
  }

  #open(limits: Pick<Route, 'maxPayloadBytes' | 'inflate'>): RequestBody | null {
    this.#body = receiveBody(this.#message, this.#response);
    return this.#body && limitBody(this.#body, this.#message, limits);
  }

  #request(params: Params, body: HttpRequest['body']): HttpRequest {
    const { path, search } = this.#target ?? { path: this.#message.url!, search: '' };
    this.#client = new HttpRequest(this.#message, path, search, params, body, this.#parts.ipOf);
    return this.#client;
  }

  #serve(context: Koa.Context, route: Route, params: Params): void | Promise<void> {
    this.#call = new Call(route.log, route.endpoint.timeout);
    const request = this.#request(params, this.#open(route));
    const reply = route.handle(request, this.#call);
    if (!(reply instanceof Promise)) return this.#answer(context, route, request, reply);
    return reply.then((settled) => this.#answer(context, route, request, settled));
  }

  #answer(context: Koa.Context, route: Route, request: HttpRequest, reply: Reply): void | Promise<void> {
    if (reply.errors.length > 0) {
      this.#errors = reply.errors;
      // A refusal made before the pipe is no failure: the access line tells it.
      if (reply.complete !== null) tellErrors(reply, route.log, route.endpoint.backend.length > 1);
    }
    if (this.#refusal !== 0 || this.#response.destroyed) {
      context.respond = false;
      return drop(reply);
    }
    let answer: Answer;
    try {
      answer = render(reply, route, request, this.#parts.rendering);
    } catch (error) {
      const failed = Reply.failed(toCallError(error));
      tellErrors(failed, route.log, false);
      // What the stages have put on the reply is the client's, whatever becomes of its content.
      reply.headers.filter((name) => !name.startsWith('content-'));
      failed.headers = reply.headers;
      answer = renderError(failed, this.#parts.rendering);
    }
    this.#count(route, answer.status, reply.complete === null);
    return this.#write(context, answer);
  }

  #count(route: Route, status: number, refused = false): void {
    this.#counted = true;
    route.traffic.record(performance.now() - this.#startedAt, status, refused);
  }

  #write(context: Koa.Context, answer: Answer): void | Promise<void> {
    this.settleBody(isStreamed(answer));
    const { options, throughKoa, wrapped } = this.#parts;
    if (throughKoa && !answer.streams) {
      context.compress = !answer.raw;
      return handToKoa(context, answer, this.#call);
    }
    context.respond = false;
    if (wrapped) yieldToContext(this.#response, answer.headers);
    if (options.disable_gzip || answer.raw || !wantsGzip(this.#response, answer)) return this.#send(answer);
    const send = (packed: Answer): void => {
      if (!this.#response.destroyed) this.#send(packed);
    };
    return compress(answer).then(send, () => send(answer));
  }

  #send(answer: Answer): void {
    this.#endStream = writeAnswer(this.#response, answer, this.#call);
    if (!this.#endStream || this.#outcome?.kind !== 'route') return;
    this.#outcome.route.hold.enter(this);
    this.#parts.runtime.leave(this);
  }

  /** A stream ends in order. */
  end(): void {
    this.#endStream?.();
  }

  /** Its configuration can wait no longer. */
  abort(): string {
    if (this.#response.headersSent || !this.#call) {
      this.abandon(503);
      this.#response.destroy();
    } else {
      this.#response.shouldKeepAlive = false;
      this.#call.cancel(new CallError('CONFIG_RETIRED', 'configuration retired', { view: { status: 503 } }));
    }
    return `${this.#message.method} ${this.match()?.endpoint ?? this.#message.url}`;
  }

  /**
   * An answer is about to be written: a body nobody reads must not hold up the connection.
   * @param streams whoever reads the body may go on while the answer is written.
   */
  settleBody(streams: boolean): void {
    this.#body ??= receiveBody(this.#message, this.#response);
    this.#body?.settle(streams);
  }

  /** The connection has answered with this status, or is about to end: whatever the pipe still brings is dropped. */
  abandon(status: number): void {
    this.#refusal = status;
    this.#call?.cancel(new CancelledError());
  }

  /** The response has ended or its client has left. */
  closed(): void {
    const completed = this.#response.writableFinished;
    const call = this.#call;
    if (completed) call?.finish();
    else call?.cancel(new CancelledError());
    call?.end({ status: this.#status, completed, reason: call.reason });
    this.#body?.destroy(new CancelledError());
    if (this.#outcome?.kind === 'route' && !this.#counted) this.#count(this.#outcome.route, this.#status);
    if (this.#endStream && this.#outcome?.kind === 'route') this.#outcome.route.hold.leave(this);
    else this.#parts.runtime.leave(this);
  }

  /** What the client was told. */
  get #status(): number {
    return this.#response.headersSent ? this.#response.statusCode : this.#refusal || CLIENT_LEFT;
  }

  /** This request as the access log sees it. */
  record(): AccessRecord {
    return new FinishedRequest(this.#client ?? this.#request(noParams, null), this.#message, this.#call, {
      latencyMs: performance.now() - this.#startedAt,
      status: this.#status,
      errors: this.#errors,
      endpoint: this.#outcome?.kind === 'route' ? this.#outcome.route.endpoint.endpoint : null,
    });
  }
}

/** Gives up the exchange of a message, if it has one: its connection answers with this status in its place, or ends. */
export function abandon(message: IncomingMessage, status: number): void {
  (message as Carrier)[carried]?.abandon(status);
}
