import type { IncomingMessage, ServerResponse } from 'node:http';
import { CancelledError, type ClientRequest, type EndpointConfig, type RequestBody, timerMs } from '#contract';
import { DeadlineError } from '../../contract/internal.ts';
import type { Route } from '../../pipeline/compile/route.ts';
import { parsedLimit } from '../../pipeline/request/payload-limits.ts';
import type { ExchangeContext } from '../exchange/context.ts';
import { KoaChanges } from '../exchange/koa-reply.ts';
import { SwitchingResponse } from '../http1/upgrade.ts';
import type { Destination } from '../routing/destinations.ts';
import { parseTarget, type Target } from '../routing/target.ts';
import { INFLATED_LIMIT_BYTES as BODY_LIMIT_BYTES, limitBody, receiveBody } from './body.ts';
import type { ClientBody } from './client-body.ts';
import { HttpRequest, type RequestSource } from './client-request.ts';

/** Minimum time for a body that Koa middleware reads outside of endpoints, in milliseconds: uploads may take long there. */
const LEAST_READING_MS = 60_000;

const badTarget: Destination = { kind: 'refused', text: 'error: invalid request target' };

/** A received request: the target of Node's message, its destination, and the body, opened once. */
export class ReceivedRequest implements RequestSource {
  readonly message: IncomingMessage;
  readonly #context: ExchangeContext;
  readonly response: ServerResponse;
  /** Changes that Koa middleware makes to the request; null without middleware. */
  #changes: KoaChanges | null = null;
  #target: Target | null;
  #destination: Destination | null = null;
  #client: HttpRequest | null = null;
  #body: ClientBody | null = null;
  /** The route that handles the request, or has begun to; null for anything other than an endpoint. */
  route: Route | null = null;
  /** Ends the time limit for reading the body before an endpoint; null without a limit. */
  #readingTimer: NodeJS.Timeout | null = null;
  /** Whether the time limit is that of a component that has opened the body. */
  #limitsOpened = false;

  constructor(context: ExchangeContext, message: IncomingMessage, response: ServerResponse) {
    this.#context = context;
    this.message = message;
    this.response = response;
    this.#target = readTarget(message);
  }

  /**
   * Called before Koa middleware sees the request: it may change the request, and read its body.
   * @param overdue called if the middleware waits too long for the body.
   */
  prepare(overdue: () => void): void {
    this.#changes = new KoaChanges(this.message);
    this.#body = receiveBody(this.message, this.response, this.#context.options.max_payload || BODY_LIMIT_BYTES);
    if (this.#body) this.#limitMiddleware(this.#body, overdue);
  }

  /** Whether Koa middleware runs around the request. */
  get isPrepared(): boolean {
    return this.#changes !== null;
  }

  /** Destination of the request. Looked up once. */
  get destination(): Destination {
    this.#destination ??= this.#target
      ? this.#context.destinations.ofMessage(this.message, this.#target.path)
      : badTarget;
    return this.#destination;
  }

  get endpoint(): EndpointConfig | null {
    const { destination } = this;
    return destination.kind === 'route' ? destination.route.endpoint : null;
  }

  /** Returns the destination of this request, or of one derived from it. */
  destinationOf(request: ClientRequest): Destination {
    return request === this.#client ? this.destination : this.#context.destinations.ofRequest(request);
  }

  /** Applies the changes made by Koa middleware. */
  settle(): void {
    const changes = this.#changes;
    if (!changes) return;
    changes.settleHeaders();
    this.#client = null;
    if (!changes.isElsewhere) return;
    this.#target = readTarget(this.message);
    this.#destination = null;
  }

  /** The request that the pipe of the endpoint receives. */
  get client(): HttpRequest {
    if (!this.#client) {
      const { path, search } = this.#target ?? { path: this.message.url!, search: '' };
      this.#client = new HttpRequest(this.message, path, search, this.#context.requests, this);
    }
    return this.#client;
  }

  /** Whether processing has begun. */
  get isServed(): boolean {
    return this.#client !== null;
  }

  /** Begins the processing by an endpoint, whose own deadline then limits the time for reading the body. */
  enter(route: Route): void {
    this.route = route;
    if (this.#readingTimer) clearTimeout(this.#readingTimer);
  }

  /** Applies the endpoint's limit to a body that is already open. @throws CallError when it is too large. */
  restrict(request: ClientRequest, maxBytes: number): void {
    if (request !== this.#client || this.#body !== null) request.body?.restrict(maxBytes);
  }

  /** Opens the body once, with the limits of the endpoint that the request matches at that time. */
  openBody(): RequestBody | null {
    this.#body ??= receiveBody(this.message, this.response);
    const { destination } = this;
    const limits = this.route ?? (destination.kind === 'route' ? destination.route : null);
    if (this.route === null && this.#body !== null) {
      this.#limitReading(this.#body, limits?.endpoint.timeout ?? this.#context.runtime.config.timeout);
    }
    return this.#body && limitBody(this.#body, this.message, limits ?? this.#limits);
  }

  /**
   * Limits the time for a body that a component of the service reads, before the deadline of an endpoint exists: a client
   * that sends slowly could otherwise hold the request forever.
   */
  #limitReading(body: ClientBody, timeoutMs: number): void {
    if (this.#limitsOpened || body.destroyed) return;
    this.#limitsOpened = true;
    this.#setTimer(
      body,
      setTimeout(() => body.destroy(new DeadlineError()), timerMs(timeoutMs)),
    );
  }

  /** Limits the time for a body that Koa middleware reads from Node's message, which has no limit of its own. */
  #limitMiddleware(body: ClientBody, overdue: () => void): void {
    const { message, response, endpoint } = this;
    const limitMs = endpoint?.timeout ?? Math.max(this.#context.runtime.config.timeout, LEAST_READING_MS);
    const timer = setTimeout(() => {
      if (message.complete || response.headersSent) return;
      // Middleware that does not read the body yet takes its time itself.
      if (!message.readableFlowing && message.listenerCount('readable') === 0) {
        timer.refresh();
        return;
      }
      overdue();
      // Node no longer reports the end of the connection to a message whose response is complete.
      if (message.httpVersionMajor < 2) message.socket.once('close', () => message.destroy());
    }, timerMs(limitMs));
    this.#setTimer(body, timer);
  }

  #setTimer(body: ClientBody, timer: NodeJS.Timeout): void {
    if (this.#readingTimer) clearTimeout(this.#readingTimer);
    this.#readingTimer = timer;
    body.once('close', () => clearTimeout(timer));
  }

  /** Limits for a body that is read before the endpoint is known. */
  get #limits(): Pick<Route, 'maxPayloadBytes' | 'maxParsedBytes' | 'inflate'> {
    const { max_payload: maxPayload } = this.#context.options;
    return {
      maxPayloadBytes: maxPayload || BODY_LIMIT_BYTES,
      maxParsedBytes: parsedLimit(maxPayload, 0),
      inflate: false,
    };
  }

  get upgrade(): string | null {
    return this.response instanceof SwitchingResponse ? this.response.protocol : null;
  }

  /** Called when the response is about to be written: discards the rest of the request body. */
  settleBody(streams: boolean): void {
    this.#body ??= receiveBody(this.message, this.response);
    this.#body?.settle(streams);
  }

  /** Discards the body, because it no longer has a reader. */
  dropBody(): void {
    if (this.#body?.destroyed === false) this.#body.destroy(new CancelledError());
  }
}

/** Parses the request target. A host in the target takes precedence over `Host`. */
function readTarget(message: IncomingMessage): Target | null {
  const target = parseTarget(message.url!);
  if (target?.host !== undefined) message.headers.host = target.host;
  return target;
}
