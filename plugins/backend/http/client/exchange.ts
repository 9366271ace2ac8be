import {
  BackendError,
  type ByteSource,
  ByteStream,
  type Call,
  type CallError,
  type Cancellation,
  HeaderBag,
  type PipeRequest,
  Reply,
  timerMs,
} from '#contract';
import type { AnswerHandler, Attempt } from './answer-handler.ts';
import { MAX_DISCARD_MS, MAX_DISCARDED_BYTES } from './discarding.ts';
import { aborted, TransportError, UnprocessedError } from './errors.ts';
import { bodyFailure, failureOf, isRepeatable, malformed } from './failure.ts';
import { type Incoming, incoming, Outgoing } from './headers.ts';
import { enterPool, type HttpClient } from './http-client.ts';
import { RoundTrip } from './http1/round-trip.ts';
import { Inflater, takeGzip } from './inflate.ts';
import { Observation } from './observe.ts';
import type { OriginPool } from './origin-pool.ts';
import { onceBegun, type Payload } from './payload.ts';
import { isRedirect, type RedirectSource, redirectTo, repeatsBody } from './redirect.ts';
import { sending } from './sending.ts';
import { signed } from './sign.ts';
import { isBodiless, isInterim } from './status.ts';
import { readTrailers } from './trailers.ts';

const WAITING = 0;
const ANSWERING = 1;
const DISCARDING = 2;
const DONE = 3;

let captured: (reply: Reply) => void;
const capture = (resolve: (reply: Reply) => void) => {
  captured = resolve;
};

/** Sends a request. Resolves to the raw reply as soon as its headers have arrived, or to the failure. */
export function exchange(client: HttpClient, request: PipeRequest, call: Call, payload: Payload): Promise<Reply> {
  const reply = new Promise<Reply>(capture);
  new Exchange(client, request, call, payload, captured).send();
  return reply;
}

/** One request and its response: the response handler and the source of the body in one object. */
class Exchange implements AnswerHandler, ByteSource, RedirectSource {
  method: string;
  headers: HeaderBag;
  redirects = 0;
  firstOrigin: string;
  origin: string;
  target: string;
  host: string | null;
  #client: HttpClient;
  #request: PipeRequest;
  #call: Call;
  #payload: Payload;
  #resolve: (reply: Reply) => void;
  #lane: OriginPool | null = null;
  #controller: Attempt | null = null;
  #cancellation: Cancellation | null = null;
  #sink: ByteStream | Inflater | null = null;
  #state = WAITING;
  #reason: Error | null = null;
  #timer: NodeJS.Timeout | null = null;
  #asksGzip = false;
  #answered = false;
  #reused = false;
  #retried = false;
  #discardedBytes = 0;
  #observation: Observation | null = null;
  #trailers: HeaderBag | null = null;

  constructor(client: HttpClient, request: PipeRequest, call: Call, payload: Payload, resolve: (reply: Reply) => void) {
    this.#client = client;
    this.#request = request;
    this.#call = call;
    this.#payload = payload;
    this.#resolve = resolve;
    this.method = request.method;
    this.headers = request.headers;
    this.origin = request.origin;
    this.target = request.target;
    this.host = request.host;
    this.firstOrigin = request.origin;
  }

  send(): void {
    try {
      this.#lane = enterPool(this.#client, this, this.#request.client.ip);
    } catch (error) {
      return this.#over(failureOf(error as Error, this.origin));
    }
    this.#cancellation = this.#call.onCancel((reason) => this.giveUp(reason));
    onceBegun(this.#payload, this);
  }

  /** Called once the body begins to arrive. A connection assigned earlier could time out while waiting for the body. */
  begin(payload: Payload): void {
    this.#payload = payload;
    if (this.#state === WAITING) this.#attempt(this.#lane!);
  }

  /** Aborts the request when the call is canceled. */
  giveUp(reason: Error): void {
    if (this.#state === DONE) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.#over(reason as CallError);
  }

  /** Called when the reader of the body is ready for more. */
  resume(): void {
    this.#controller?.resume();
  }

  cancel(reason: Error): void {
    this.giveUp(reason);
  }

  onRequestStart(controller: Attempt): void {
    this.#controller = controller;
    this.#reused = this.#lane!.fresh === null;
    if (this.#observation !== null) this.#observation.sent(this.#lane!, this.origin);
    if (this.#state === DONE) controller.abort(this.#reason ?? aborted());
  }

  onRequestSent(): void {
    const { headerTimeoutMs } = this.#client;
    if (headerTimeoutMs > 0 && this.#state === WAITING && this.#timer === null) {
      this.#timer = setTimeout(
        () => this.#controller?.abort(new TransportError('HEADERS_TIMEOUT', 'no response headers in time')),
        timerMs(headerTimeoutMs),
      );
    }
  }

  onResponseStarted(): void {
    this.#answered = true;
    if (this.#observation !== null) this.#observation.answered();
  }

  onResponseStart(controller: Attempt, status: number): void {
    if (isInterim(status) || this.#state !== WAITING) return;
    this.#disarm();
    if (status < 200 || status > 599) return this.#malformed(`status ${status}`);
    const head: Incoming =
      controller instanceof RoundTrip ? controller.head! : incoming(controller.rawHeaders as Buffer[]);
    const { list, allowsTrailers, fault } = head;
    if (fault !== undefined) return this.#malformed(fault);
    const bag = new HeaderBag(list);
    if (this.#client.followsRedirects && isRedirect(status) && this.#redirected(status, bag)) return;
    this.#state = ANSWERING;
    let body: ByteStream | null = null;
    if (isBodiless(status)) {
      // Only responses to HEAD and 304 responses can state a length although they have no body.
      if (status !== 304) bag.delete('content-length');
    } else if (this.method !== 'HEAD') {
      if (this.#asksGzip && takeGzip(bag)) {
        const inflater = new Inflater(this);
        this.#sink = inflater;
        body = inflater.body;
      } else {
        body = new ByteStream(this);
        this.#sink = body;
      }
    }
    const reply = Reply.raw(status, bag, body);
    if (allowsTrailers && body !== null) reply.trailers = () => this.#trailers ?? new HeaderBag();
    this.#resolve(reply);
    // A 205 response has no body for the client, but the backend may send one; it is read and discarded.
    if (status === 205) this.#discard();
  }

  onResponseData(controller: Attempt, chunk: Buffer): void {
    // After a pause, the parser may deliver an empty chunk; pausing again for it would lead to an endless loop.
    if (chunk.length === 0) return;
    if (this.#sink !== null) {
      if (!this.#sink.write(chunk)) controller.pause();
    } else {
      this.#discardedBytes += chunk.length;
      if (this.#discardedBytes > MAX_DISCARDED_BYTES) controller.abort(aborted());
    }
  }

  onResponseEnd(controller: Attempt): void {
    if (this.#state === DONE) return;
    this.#trailers = readTrailers(controller?.rawTrailers, this.#call.log);
    this.#finish();
    this.#sink?.end();
  }

  onResponseError(_controller: Attempt | null, error: Error): void {
    if (this.#state === DONE) return;
    if (this.#retriable(error)) return this.#retry();
    const payload = this.#payload;
    const bodyFailed = payload !== null && 'errored' in payload && payload.errored === error;
    this.#over(bodyFailed ? bodyFailure(error) : failureOf(error, this.origin, this.#lane?.proxied));
  }

  /** Sends the request with new signatures. @param forceNew on a new connection. */
  #attempt(lane: OriginPool, forceNew = false): void {
    const { signers } = this.#client;
    if (signers === null) return this.#dispatch(lane, this.headers, forceNew);
    signed(this, signers, this.#payload, this.#call).then(
      (headers) => {
        if (this.#state === WAITING) this.#dispatch(lane, headers, forceNew);
      },
      (error: Error) => this.#over(failureOf(error, this.origin)),
    );
  }

  #dispatch(lane: OriginPool, headers: HeaderBag, forceNew: boolean): void {
    const client = this.#client;
    const outgoing = new Outgoing(headers, client.asksGzip && this.method !== 'HEAD');
    this.#asksGzip = outgoing.asksGzip;
    this.#observation = client.observers && new Observation(client.observers, this.#request, this.#call);
    // The connection is closed after the response if enough idle connections are kept already.
    const isLast = client.transport.crowded(lane);
    const attempt = sending(this, outgoing.list, this.#payload, this.#request.body?.length, isLast);
    lane.dispatcher.dispatch(attempt, this, forceNew);
  }

  /** Follows a redirect. @returns false if the redirect is to be returned as the response. */
  #redirected(status: number, bag: HeaderBag): boolean {
    const payload = this.#payload;
    if (repeatsBody(status, this.method) && payload !== null && !this.#client.resendsBody) return false;
    const next = redirectTo(status, bag.get('location'), this);
    if (next instanceof BackendError) {
      this.#reason = next;
      this.#controller?.abort(next);
      this.#over(next);
      return true;
    }
    this.#discard();
    const request = this.#request;
    request.origin = next.origin;
    request.target = next.target;
    request.host = next.host;
    const follower = new Exchange(this.#client, request, this.#call, next.keepsBody ? payload : null, this.#resolve);
    follower.method = next.method;
    follower.headers = next.headers;
    follower.redirects = this.redirects + 1;
    follower.firstOrigin = this.firstOrigin;
    follower.send();
    return true;
  }

  /** Whether no part of a response has arrived and the request can be repeated safely. */
  #retriable(error: Error): boolean {
    if (this.#answered || this.#retried || this.#state !== WAITING || this.#controller === null) return false;
    if (error instanceof UnprocessedError) return this.#payload === null || this.#payload instanceof Uint8Array;
    return this.#reused && this.#payload === null && isRepeatable(this.method, error);
  }

  #retry(): void {
    this.#retried = true;
    this.#controller = null;
    this.#disarm();
    this.#attempt(this.#lane!, true);
  }

  /** Reads and discards the rest of the response, for a limited time. */
  #discard(): void {
    this.#state = DISCARDING;
    this.#timer = setTimeout(() => this.#controller?.abort(aborted()), MAX_DISCARD_MS);
  }

  /** Fails the call at once because of an invalid HTTP/1.1 response, which might not end before the deadline. */
  #malformed(reason: string): void {
    const failure = malformed(this.origin, reason);
    this.#reason = failure;
    this.#controller?.abort(failure);
    this.#over(failure);
  }

  #over(failure: CallError): void {
    if (this.#state === DONE) return;
    const discarding = this.#state === DISCARDING;
    this.#finish();
    if (this.#sink !== null) this.#sink.fail(failure);
    else if (!discarding) this.#resolve(Reply.failed(failure));
  }

  #finish(): void {
    this.#state = DONE;
    this.#disarm();
    this.#cancellation?.off();
    this.#cancellation = null;
    if (this.#lane !== null) this.#client.transport.leave(this.#lane);
  }

  #disarm(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }
}
