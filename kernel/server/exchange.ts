import type { IncomingMessage, ServerResponse } from 'node:http';
import type Koa from 'koa';
import {
  type AccessRecord,
  ByteStream,
  Call,
  CancelledError,
  type EndpointConfig,
  HeaderBag,
  type Log,
  type Params,
  Reply,
  type RouterOptions,
  toCallError,
} from '#contract';
import { type Answer, type Rendering, render } from '../pipeline/render.ts';
import type { Route } from '../pipeline/route.ts';
import type { FallbackAnswers } from './answers.ts';
import type { FindBuiltIn } from './builtin.ts';
import { HttpRequest } from './client-request.ts';
import { openBody } from './request-body.ts';
import type { Outcome, Router } from './router.ts';
import { parseTarget, type Target } from './target.ts';
import { writeAnswer } from './write.ts';

/** What the exchanges of one runtime share. */
export interface ExchangeParts {
  readonly router: Router;
  readonly rendering: Rendering;
  readonly fallbacks: FallbackAnswers;
  readonly findBuiltIn: FindBuiltIn;
  readonly ipOf: (message: IncomingMessage) => string;
  readonly options: RouterOptions;
  /** Service-level middleware stands around the exchange and may have set headers. */
  readonly wrapped: boolean;
  /** The answer is handed to Koa instead of being written at once. */
  readonly throughKoa: boolean;
  readonly log: Log;
}

const badTarget: Outcome = { kind: 'refused', text: 'error: invalid request target' };
const noParams: Params = Object.freeze({});
const noErrors: Reply['errors'] = Object.freeze([]);

/** One request and its response: the only place that knows both Node's messages and the pipe's. */
export class Exchange {
  readonly #parts: ExchangeParts;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #startedAt = performance.now();
  readonly #target: Target | null;
  #outcome: Outcome | null = null;
  #call: Call | null = null;
  #client: HttpRequest | null = null;
  #errors: Reply['errors'] = noErrors;
  #answered = false;

  constructor(parts: ExchangeParts, message: IncomingMessage, response: ServerResponse) {
    this.#parts = parts;
    this.#message = message;
    this.#response = response;
    this.#target = parseTarget(message.url!);
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
    const builtIn = this.#parts.findBuiltIn(method!, path);
    if (builtIn) {
      const request = this.#request(noParams, openBody(this.#message, { maxPayloadBytes: 0, inflate: false }));
      const answer = builtIn(request);
      return answer instanceof Promise
        ? answer.then((ready) => this.#write(context, ready))
        : this.#write(context, answer);
    }
    const outcome = this.#find();
    if (outcome.kind === 'route') return this.#serve(context, outcome.route, outcome.params);
    this.#write(context, this.#fallback(outcome, path));
  }

  #fallback(outcome: Exclude<Outcome, { kind: 'route' }>, path: string): Answer {
    const { options, router, rendering, fallbacks } = this.#parts;
    const { method, headers } = this.#message;
    if (options.auto_options && method === 'OPTIONS') {
      const allow = router.methodsOf(path);
      if (allow.length > 0) {
        return { status: 200, headers: ['Allow', allow.join(', '), 'X-Gateway', rendering.version], body: null };
      }
    }
    const prefix = headers['x-forwarded-prefix'];
    return fallbacks.of(outcome, method!, this.#target?.search ?? '', typeof prefix === 'string' ? prefix : undefined);
  }

  #request(params: Params, body: HttpRequest['body']): HttpRequest {
    const { path, search } = this.#target ?? { path: this.#message.url!, search: '' };
    this.#client = new HttpRequest(this.#message, path, search, params, body, this.#parts.ipOf);
    return this.#client;
  }

  #serve(context: Koa.Context, route: Route, params: Params): void | Promise<void> {
    const call = new Call(route.log, route.endpoint.timeout);
    this.#call = call;
    let request: HttpRequest;
    let reply: Reply | Promise<Reply>;
    try {
      request = this.#request(params, openBody(this.#message, route));
      reply = route.handle(request, call);
    } catch (error) {
      const failed = Reply.failed(toCallError(error));
      return this.#answer(context, route, this.#request(params, null), failed);
    }
    if (!(reply instanceof Promise)) return this.#answer(context, route, request, reply);
    // A stage that does not heed the deadline must not hold the client.
    call.onCancel((reason) => this.#answer(context, route, request, Reply.failed(toCallError(reason))));
    return reply.then(
      (settled) => this.#answer(context, route, request, settled),
      (error) => this.#answer(context, route, request, Reply.failed(toCallError(error))),
    );
  }

  #answer(context: Koa.Context, route: Route, request: HttpRequest, reply: Reply): void {
    if (this.#answered) {
      if (reply.body instanceof ByteStream) reply.body.cancel(new CancelledError());
      return;
    }
    this.#answered = true;
    if (reply.errors.length > 0) {
      this.#errors = reply.errors;
      // A refusal made before the pipe is no failure: the access line tells it.
      if (reply.complete !== null) tellErrors(reply, route.log, route.endpoint.backend.length > 1);
    }
    if (this.#response.destroyed) return;
    let answer: Answer;
    try {
      answer = render(reply, route, request, this.#parts.rendering);
    } catch (error) {
      const failed = Reply.failed(toCallError(error));
      tellErrors(failed, route.log, false);
      answer = render(failed, route, request, this.#parts.rendering);
    }
    this.#write(context, answer);
  }

  #write(context: Koa.Context, answer: Answer): void {
    if (this.#parts.throughKoa && !answer.streams) return handToKoa(context, answer, this.#call);
    context.respond = false;
    const unread = this.#message.headers['content-length'] !== undefined && !this.#message.readableEnded;
    if (unread && answer.status === 413) answer.headers.push('Connection', 'close');
    if (this.#parts.wrapped) yieldToContext(this.#response, answer.headers);
    writeAnswer(this.#response, answer, this.#call);
  }

  /** The response has ended or its client has left. */
  closed(): void {
    if (this.#response.writableFinished) this.#call?.finish();
    else this.#call?.cancel(new CancelledError());
  }

  /** This request as the access log sees it. */
  record(): AccessRecord {
    const request = this.#client ?? this.#request(noParams, null);
    return {
      endedAt: Date.now(),
      latencyMs: performance.now() - this.#startedAt,
      status: this.#response.statusCode,
      method: this.#message.method!,
      path: request.path,
      search: request.search,
      host: request.host,
      ip: request.ip,
      secure: request.secure,
      httpVersion: this.#message.httpVersion,
      get requestHeaders() {
        return request.headers;
      },
      errors: this.#errors,
      endpoint: this.#outcome?.kind === 'route' ? this.#outcome.route.endpoint.endpoint : null,
      call: this.#call,
    };
  }
}

/** One ERROR line for each thing that failed; a fault of ours with its stack (error rule 12). */
function tellErrors(reply: Reply, log: Log, several: boolean): void {
  for (const [index, error] of reply.errors.entries()) {
    const lead = several ? `Error #${index}: ` : '';
    const detail = error.code === 'GATEWAY_FAULT' && error.cause instanceof Error ? `\n${error.cause.stack}` : '';
    if (error.code === 'CALL_CANCELLED') log.debug(`${lead}${error.message}`);
    else log.error(`${lead}${error.message}${detail}`);
  }
}

/** What service-level middleware has set stands; an answer's header of the same name goes. */
function yieldToContext(response: ServerResponse, headers: string[]): void {
  if (response.getHeaderNames().length === 0) return;
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    if (response.hasHeader(headers[at]!)) headers.splice(at, 2);
  }
}

/** For middleware that reads the reply: Koa writes it. */
function handToKoa(context: Koa.Context, answer: Answer, call: Call | null): void {
  const { status, headers, body } = answer;
  context.status = status;
  for (const [name, value] of new HeaderBag(headers)) if (!context.res.hasHeader(name)) context.append(name, value);
  const type = context.response.get('content-type');
  if (body instanceof ByteStream) context.body = body.readable();
  else if (body !== null) context.body = typeof body === 'string' ? body : Buffer.from(body);
  if (type) context.set('Content-Type', type);
  if (!(body instanceof ByteStream)) call?.finish();
}
