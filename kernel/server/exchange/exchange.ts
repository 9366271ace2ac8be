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
import type { Route } from '../../pipeline/compile/route.ts';
import type { RenderedReply } from '../../pipeline/response/render.ts';
import { drop, settledReply } from '../../pipeline/steps/settle.ts';
import type { InFlight } from '../../pipeline/traffic/in-flight.ts';
import type { Stream } from '../../pipeline/traffic/stream-lease.ts';
import { SwitchingResponse } from '../http1/upgrade.ts';
import { FinishedRequest } from '../request/finished.ts';
import { logOf } from '../request/id.ts';
import { type Failing, RequestOwner } from '../request/owner.ts';
import { ReceivedRequest } from '../request/received.ts';
import { codingOf, compress } from '../response/compression.ts';
import { answerFailure, failureText } from '../response/failed-answer.ts';
import { CLIENT_LEFT, UPGRADED } from '../response/recorded-status.ts';
import { logErrors, renderReply } from '../response/render.ts';
import { isStreamed, type Written, writeReply } from '../response/write.ts';
import type { Destination } from '../routing/destinations.ts';
import type { ExchangeContext } from './context.ts';
import { handToKoa, joinContext, lengthOf } from './koa-reply.ts';

const noErrors: Reply['errors'] = Object.freeze([]);

/** One request and its response: the only class that handles both Node's messages and the pipe's. */
export class Exchange implements InFlight, Stream, CallHost, Written, Failing {
  /** Owner of uncaught errors that occur while this request is processed. */
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
  /** Status sent to the client instead of the pipe's response; 0 for none. */
  #refusal = 0;
  /** Status for logs and metrics of a protocol that reports its outcome after the body; 0 for none. */
  #outcome = 0;
  #counted = false;
  /** Ends a stream gracefully; null for any other response. */
  #endStream: (() => void) | null = null;

  constructor(context: ExchangeContext, message: IncomingMessage, response: ServerResponse) {
    this.#context = context;
    this.#received = new ReceivedRequest(context, message, response);
    this.#response = response;
    this.#call = new Call(context.log, Number.POSITIVE_INFINITY, this);
    context.identify?.(message, this.#call);
  }

  /** Called before Koa middleware, which may change the request and read its body. */
  prepare(): void {
    this.#received.prepare(() => this.fail());
  }

  /** Returns the endpoint of this request; null for none. Looked up once. */
  match(): EndpointConfig | null {
    return this.#received.endpoint;
  }

  /** Innermost middleware: responds to the request, also when processing fails. */
  run(context: Koa.Context): void | Promise<void> {
    this.#received.settle();
    const request = this.#received.client;
    const reply = this.#reply(request);
    if (!(reply instanceof Promise)) return this.#answer(context, request, reply);
    return reply.then((settled) => this.#answer(context, request, settled));
  }

  /** Responds to the request without Koa middleware. Never throws. */
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

  /** Routes the request to a plugin's own route or a declared endpoint, or responds with an error. Never throws. */
  dispatch(request: ClientRequest, call: Call): Reply | Promise<Reply> {
    const destination = this.#received.destinationOf(request);
    if (destination.kind === 'own') return settledReply(destination.route.handle, request, call);
    if (destination.kind !== 'route') return this.#fallback(destination, request);
    const { route, params } = destination;
    this.#received.enter(route);
    call.enter(logOf(route.log, call), route.endpoint.timeout);
    (request as { params: Params }).params = params;
    try {
      this.#received.restrict(request, route.maxPayloadBytes);
    } catch (error) {
      return Reply.failed(toCallError(error));
    }
    return route.traffic.observer?.run(route, request, call) ?? route.handle(request, call);
  }

  #fallback(destination: Exclude<Destination, { kind: 'route' | 'own' }>, request: ClientRequest): Reply {
    const prefix = request.headers.get('x-forwarded-prefix');
    return this.#context.fallbacks.of(destination, request.method, request.search, prefix);
  }

  /** @param context the Koa context; null without Koa middleware. */
  #answer(context: Koa.Context | null, request: ClientRequest, reply: Reply): void | Promise<void> {
    const { route } = this.#received;
    const log = logOf(route ? route.log : this.#context.log, this.#call);
    if (reply.errors.length > 0) {
      this.#errors = reply.errors;
      // A rejection before the pipe is not logged as a failure; the access log shows it.
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

  /** Runs the head hooks on a response that is about to be written, including one made by Koa middleware. */
  seeHead(rendered: RenderedReply): RenderedReply {
    return this.#context.heads?.(rendered, this.#received.client, this.#call) ?? rendered;
  }

  #count(route: Route, status: number, refused = false): void {
    this.#counted = true;
    route.traffic.record(performance.now() - this.#startedAt, status, refused);
  }

  #write(rendered: RenderedReply): void | Promise<void> {
    const { options } = this.#context;
    const coding = options.disable_gzip || rendered.raw ? null : codingOf(this.#response, rendered);
    if (coding === null) return this.#send(rendered);
    const send = (packed: RenderedReply): void => (this.#response.destroyed ? drop(packed) : this.#send(packed));
    return compress(rendered, coding, options.gzip_profile).then(send, () => send(rendered));
  }

  /** Writes the response. If the head cannot be written, its resources are released. */
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
      this.#endStream = response.switchTo(rendered.upgrade, rendered.headers, this.name, this.#call.log);
    } else {
      this.#endStream = writeReply(response, rendered, this.#call, this);
    }
    const { route } = this.#received;
    if (!this.#endStream || !route) return;
    route.hold.enter(this);
    this.#context.runtime.leave(this);
  }

  /** Ends a stream gracefully. */
  end(): void {
    this.#endStream?.();
  }

  /** Called when the retired configuration cannot wait any longer. */
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
   * Called when the response is about to be written: an unread body must not block the connection.
   * @param streams whether the response is a stream; the body can then still be read meanwhile.
   */
  settleBody(streams: boolean): void {
    this.#received.settleBody(streams);
  }

  /** The connection has sent this status, or is about to close: further output of the pipe is discarded. */
  abandon(status: number): void {
    this.#refusal = status;
    this.#call.cancel(new CancelledError());
  }

  stalled(milliseconds: number): void {
    this.#call.log.warning(`client stopped reading for ${milliseconds} ms; response aborted`);
    this.abandon(503);
  }

  /** Background work keeps the configuration in memory for at most as long as a request may. */
  background(work: Promise<unknown>): void {
    this.#context.runtime.background(work, maskTarget(this.#received.message.url!));
  }

  /** Called when the response has ended or the client has disconnected. */
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

  /** Status sent to the client. */
  get #status(): number {
    if (this.#isUpgraded) return UPGRADED;
    return this.#response.headersSent ? this.#outcome || this.#response.statusCode : this.#refusal || CLIENT_LEFT;
  }

  /** Returns this request as a record for the access log and metrics. */
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
