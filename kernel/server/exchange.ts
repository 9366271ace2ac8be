import type { IncomingMessage, ServerResponse } from 'node:http';
import type Koa from 'koa';
import {
  type AccessRecord,
  Call,
  CallError,
  type CallHost,
  CancelledError,
  type ClientRequest,
  type EndpointConfig,
  maskTarget,
  type Params,
  Reply,
  toCallError,
} from '#contract';
import type { InFlight } from '../pipeline/in-flight.ts';
import type { RenderedReply } from '../pipeline/render.ts';
import type { Route } from '../pipeline/route.ts';
import { drop, settledReply } from '../pipeline/settle.ts';
import type { Stream } from '../pipeline/stream-lease.ts';
import { compress, wantsGzip } from './compression.ts';
import type { Destination } from './destinations.ts';
import type { ExchangeContext } from './exchange-context.ts';
import { answerFailure, failureText } from './failed-answer.ts';
import { FinishedRequest } from './finished-request.ts';
import { handToKoa, joinContext, lengthOf } from './koa-reply.ts';
import { ReceivedRequest } from './received-request.ts';
import { CLIENT_LEFT, UPGRADED } from './recorded-status.ts';
import { logErrors, renderReply } from './render-reply.ts';
import { logOf } from './request-id.ts';
import { type Failing, RequestOwner } from './request-owner.ts';
import { SwitchingResponse } from './upgrade.ts';
import { isStreamed, type Written, writeReply } from './write.ts';

const noErrors: Reply['errors'] = Object.freeze([]);

/** One request and its response: the only place that knows both Node's messages and the pipe's. */
export class Exchange implements InFlight, Stream, CallHost, Written, Failing {
  /** Owner of errors that nothing catches while this request is served. */
  readonly owner = new RequestOwner(this);
  slot = 0;
  isLasting = false;
  isAlone = false;
  bytesOut: number | undefined = undefined;
  #isUpgraded = false;
  readonly #context: ExchangeContext;
  readonly #received: ReceivedRequest;
  readonly #response: ServerResponse;
  readonly #startedAt = performance.now();
  readonly #call: Call;
  #errors: Reply['errors'] = noErrors;
  /** Given to the client in place of what the pipe answers; 0 for nothing. */
  #refusal = 0;
  /** As of `Reply.outcome`; 0 for none. */
  #outcome = 0;
  #counted = false;
  /** Ends a stream in order; null for any other answer. */
  #endStream: (() => void) | null = null;

  constructor(context: ExchangeContext, message: IncomingMessage, response: ServerResponse) {
    this.#context = context;
    this.#received = new ReceivedRequest(context, message, response);
    this.#response = response;
    this.#call = new Call(context.log, Number.POSITIVE_INFINITY, this);
    context.identify?.(message, this.#call);
  }

  /** Koa middleware is about to see the request: it may change it, and read its body. */
  prepare(): void {
    this.#received.prepare();
  }

  /** The endpoint this request is for; null when there is none. Found once. */
  match(): EndpointConfig | null {
    return this.#received.endpoint;
  }

  /** The innermost middleware: answers the request, whatever becomes of it. */
  run(context: Koa.Context): void | Promise<void> {
    this.#received.settle();
    const request = this.#received.client;
    const reply = this.#reply(request);
    if (!(reply instanceof Promise)) return this.#answer(context, request, reply);
    return reply.then((settled) => this.#answer(context, request, settled));
  }

  /** Answers the request where no middleware stands around it. Never throws. */
  serve(): void {
    this.isAlone = true;
    const request = this.#received.client;
    const reply = this.#reply(request);
    if (reply instanceof Promise) void reply.then((settled) => this.#answerAlone(request, settled));
    else this.#answerAlone(request, reply);
  }

  #reply(request: ClientRequest): Reply | Promise<Reply> {
    const { around } = this.#context;
    return around ? around(request, this.#call) : this.dispatch(request, this.#call);
  }

  #answerAlone(request: ClientRequest, reply: Reply): void {
    try {
      this.#answer(null, request, reply)?.catch((error: unknown) => this.failed(error));
    } catch (error) {
      this.failed(error);
    }
  }

  failed(error: unknown): void {
    (this.#received.route ?? this.#context).log.error(() => `response failed: ${failureText(error)}`);
    answerFailure(this.#response, this.#context.rendering.names);
  }

  /** Answers by a path of the gateway's own, by a declared endpoint, or by refusing. Never throws. */
  dispatch(request: ClientRequest, call: Call): Reply | Promise<Reply> {
    const destination = this.#received.destinationOf(request);
    if (destination.kind === 'own') return settledReply(destination.route.handle, request, call);
    if (destination.kind !== 'route') return this.#fallback(destination, request);
    const { route, params } = destination;
    this.#received.route = route;
    call.enter(logOf(route.log, call), route.endpoint.timeout);
    (request as { params: Params }).params = params;
    try {
      this.#received.restrict(request, route.maxPayloadBytes);
    } catch (error) {
      return Reply.failed(toCallError(error));
    }
    return route.handle(request, call);
  }

  #fallback(destination: Exclude<Destination, { kind: 'route' | 'own' }>, request: ClientRequest): Reply {
    const prefix = request.headers.get('x-forwarded-prefix');
    return this.#context.fallbacks.of(destination, request.method, request.search, prefix);
  }

  /** @param context where Koa middleware stands around the exchange; else null. */
  #answer(context: Koa.Context | null, request: ClientRequest, reply: Reply): void | Promise<void> {
    const { route } = this.#received;
    const log = logOf(route ? route.log : this.#context.log, this.#call);
    if (reply.errors.length > 0) {
      this.#errors = reply.errors;
      // A refusal made before the pipe is no failure: the access line tells it.
      if (reply.complete !== null) logErrors(reply, log, route !== null && route.endpoint.backend.length > 1);
    }
    if (this.#refusal !== 0 || this.#response.destroyed) {
      if (context) context.respond = false;
      return drop(reply);
    }
    if (reply.lasts) {
      this.isLasting = true;
      this.#call.finish();
    }
    const { rendering, throughKoa } = this.#context;
    let rendered = renderReply(reply, route, request, rendering, log);
    this.settleBody(isStreamed(rendered));
    this.#outcome = rendered.outcome ?? 0;
    const isLeft = throughKoa && !rendered.streams && !rendered.upgrade && this.#outcome === 0;
    if (context === null || !isLeft) {
      if (context) context.respond = false;
      if (this.#received.isPrepared) joinContext(this.#response, rendered.headers);
      rendered = this.seeHead(rendered);
    }
    if (route)
      this.#count(route, rendered.upgrade ? UPGRADED : this.#outcome || rendered.status, reply.complete === null);
    if (context === null || !isLeft) return this.#write(rendered);
    context.compress = !rendered.raw;
    return handToKoa(context, rendered, this.#call);
  }

  /** Lets those who asked see a head that is about to be written, also one that Koa middleware has made. */
  seeHead(rendered: RenderedReply): RenderedReply {
    return this.#context.heads?.(rendered, this.#received.client, this.#call) ?? rendered;
  }

  #count(route: Route, status: number, refused = false): void {
    this.#counted = true;
    route.traffic.record(performance.now() - this.#startedAt, status, refused);
  }

  #write(rendered: RenderedReply): void | Promise<void> {
    const { options } = this.#context;
    if (options.disable_gzip || rendered.raw || !wantsGzip(this.#response, rendered)) return this.#send(rendered);
    const send = (packed: RenderedReply): void => (this.#response.destroyed ? drop(packed) : this.#send(packed));
    return compress(rendered).then(send, () => send(rendered));
  }

  /** An answer whose head cannot be written releases what it was made of. */
  #send(rendered: RenderedReply): void {
    try {
      this.#begin(rendered);
    } catch (error) {
      drop(rendered);
      throw error;
    }
  }

  #begin(rendered: RenderedReply): void {
    const response = this.#response;
    if (rendered.upgrade && response instanceof SwitchingResponse) {
      this.isLasting = true;
      this.#isUpgraded = true;
      this.#call.finish();
      this.#endStream = response.switchTo(rendered.upgrade, rendered.headers, this.#call.log);
    } else {
      this.#endStream = writeReply(response, rendered, this.#call, this);
    }
    const { route } = this.#received;
    if (!this.#endStream || !route) return;
    route.hold.enter(this);
    this.#context.runtime.leave(this);
  }

  /** A stream ends in order. */
  end(): void {
    this.#endStream?.();
  }

  /** Its configuration can wait no longer. */
  abort(): string {
    if (this.#response.headersSent || !this.#received.isServed) {
      this.abandon(503);
      this.#response.destroy();
    } else {
      this.#response.shouldKeepAlive = false;
      this.#call.cancel(new CallError('CONFIG_RETIRED', 'configuration retired', { view: { status: 503 } }));
    }
    return this.name;
  }

  get name(): string {
    const { message, route } = this.#received;
    return `${message.method} ${route?.endpoint.endpoint ?? maskTarget(message.url!)}`;
  }

  fail(): void {
    if (this.#isUpgraded) return this.end();
    this.abandon(500);
    this.#response.shouldKeepAlive = false;
    answerFailure(this.#response, this.#context.rendering.names);
  }

  /**
   * An answer is about to be written: a body nobody reads must not hold up the connection.
   * @param streams whoever reads the body may go on while the answer is written.
   */
  settleBody(streams: boolean): void {
    this.#received.settleBody(streams);
  }

  /** The connection has answered with this status, or is about to end: whatever the pipe still brings is dropped. */
  abandon(status: number): void {
    this.#refusal = status;
    this.#call.cancel(new CancelledError());
  }

  stalled(milliseconds: number): void {
    this.#call.log.warning(`client stopped reading for ${milliseconds} ms; response aborted`);
    this.abandon(503);
  }

  /** Work that goes on keeps the configuration for as long as requests may. */
  background(work: Promise<unknown>): void {
    this.#context.runtime.background(work, maskTarget(this.#received.message.url!));
  }

  /** The response has ended or its client has left. */
  closed(): void {
    this.owner.exchange = null;
    const completed = this.#response.writableFinished;
    const call = this.#call;
    const { route } = this.#received;
    if (completed) call.finish();
    else call.cancel(new CancelledError());
    call.end({ status: this.#status, completed, reason: call.reason });
    this.#received.dropBody();
    if (route && !this.#counted) this.#count(route, this.#status);
    if (this.#endStream && route) route.hold.leave(this);
    else this.#context.runtime.leave(this);
  }

  /** What the client was told. */
  get #status(): number {
    if (this.#isUpgraded) return UPGRADED;
    return this.#response.headersSent ? this.#outcome || this.#response.statusCode : this.#refusal || CLIENT_LEFT;
  }

  /** This request as the access log and those who measure see it. */
  record(): AccessRecord {
    const { client, message, route } = this.#received;
    return new FinishedRequest(client, message, this.#call, {
      latencyMs: performance.now() - this.#startedAt,
      status: this.#status,
      errors: this.#errors,
      route: route?.endpoint ?? null,
      completed: this.#response.writableFinished,
      bytesOut: this.bytesOut ?? lengthOf(this.#response),
    });
  }
}
