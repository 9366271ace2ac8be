import type { Readable } from 'node:stream';
import { type Dispatcher, errors } from 'undici';
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
} from '#contract';
import { bodyFailure, failureOf } from './failure.ts';
import { headerRecord, Outgoing, replyHeaders } from './headers.ts';
import { Inflater } from './inflate.ts';
import { type Hop, isRedirect, nextHop, repeatsBody } from './redirect.ts';
import type { Lane, Transport } from './transport.ts';

/** How one backend is called. */
export interface HttpClient {
  readonly transport: Transport;
  readonly followsRedirects: boolean;
  /** A body is sent again where a redirect asks for it. */
  readonly resendsBody: boolean;
  /** Ask for gzip where the request says nothing of encodings, and inflate it. */
  readonly asksGzip: boolean;
  /** Longest wait from the request sent to the headers of the answer, in milliseconds; 0 for no limit. */
  readonly headerTimeoutMs: number;
}

/** What is sent: bytes can be sent again, a stream cannot. */
export type Payload = Uint8Array | Readable | null;

/** Bytes of a redirect's own body that are read so that its connection can be used again. */
const MAX_DISCARDED_BYTES = 64 * 1024;

const WAITING = 0;
const ANSWERING = 1;
const DISCARDING = 2;
const DONE = 3;

let captured: (reply: Reply) => void;
const capture = (resolve: (reply: Reply) => void) => {
  captured = resolve;
};

/** Sends a request and answers, as soon as the headers are there, with the raw reply or the failure. */
export function exchange(client: HttpClient, request: PipeRequest, call: Call, payload: Payload): Promise<Reply> {
  const reply = new Promise<Reply>(capture);
  new Exchange(client, request, call, payload, captured).send();
  return reply;
}

/** One request on its way and its answer: the client library's handler and the source of the body in one object. */
class Exchange implements Dispatcher.DispatchHandler, ByteSource, Hop {
  method: string;
  headers: HeaderBag;
  hops = 0;
  firstOrigin: string;
  origin: string;
  target: string;
  #client: HttpClient;
  #request: PipeRequest;
  #call: Call;
  #payload: Payload;
  #resolve: (reply: Reply) => void;
  #lane: Lane | null = null;
  #controller: Dispatcher.DispatchController | null = null;
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
    this.firstOrigin = request.origin;
  }

  send(): void {
    try {
      this.#lane = this.#client.transport.enter(this.origin);
    } catch (error) {
      this.#over(failureOf(error as Error, this.origin));
      return;
    }
    this.#cancellation = this.#call.onCancel((reason) => this.giveUp(reason));
    if (this.#state === WAITING) this.#dispatch(this.#lane.dispatcher, this.#lane);
  }

  /** The call is given up. */
  giveUp(reason: Error): void {
    if (this.#state === DONE) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.#over(reason as CallError);
  }

  /** The reader of the body can take more. */
  resume(): void {
    this.#controller?.resume();
  }

  /** The reader of the body wants no more. */
  cancel(reason: Error): void {
    this.giveUp(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#reused = !this.#lane!.fresh;
    if (this.#state === DONE) controller.abort(this.#reason ?? new errors.RequestAbortedError());
  }

  onRequestSent(): void {
    const { headerTimeoutMs } = this.#client;
    if (headerTimeoutMs > 0 && this.#state === WAITING && this.#timer === null) {
      this.#timer = setTimeout(() => this.#controller?.abort(new errors.HeadersTimeoutError()), headerTimeoutMs);
    }
  }

  onResponseStarted(): void {
    this.#answered = true;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200 || this.#state !== WAITING) return;
    this.#disarm();
    const bag = new HeaderBag(replyHeaders(controller.rawHeaders as unknown as Buffer[]));
    if (this.#client.followsRedirects && isRedirect(status) && this.#redirected(status, bag)) return;
    this.#state = ANSWERING;
    let body: ByteStream | null = null;
    if (this.method !== 'HEAD' && status !== 204 && status !== 304) {
      if (this.#asksGzip && isGzip(bag)) {
        const inflater = new Inflater(this);
        this.#sink = inflater;
        body = inflater.body;
      } else {
        body = new ByteStream(this);
        this.#sink = body;
      }
    }
    this.#resolve(Reply.raw(status, bag, body));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // After a pause the parser may come with nothing; a pause for that would be answered by nothing again, for ever.
    if (chunk.length === 0) return;
    if (this.#sink !== null) {
      if (!this.#sink.write(chunk)) controller.pause();
    } else if (this.#state === DISCARDING) {
      this.#discardedBytes += chunk.length;
      if (this.#discardedBytes > MAX_DISCARDED_BYTES) controller.abort(new errors.RequestAbortedError());
    }
  }

  onResponseEnd(): void {
    if (this.#state === DONE) return;
    this.#finish();
    this.#sink?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#state === DONE) return;
    if (this.#retriable(error)) {
      this.#retry();
      return;
    }
    const payload = this.#payload;
    const bodyFailed = payload !== null && 'errored' in payload && payload.errored === error;
    this.#over(bodyFailed ? bodyFailure(error) : failureOf(error, this.origin, this.#lane?.proxied));
  }

  #dispatch(dispatcher: Dispatcher, lane: Lane): void {
    const client = this.#client;
    const outgoing = new Outgoing(this.headers, client.asksGzip && this.method !== 'HEAD');
    const { list } = outgoing;
    this.#asksGzip = outgoing.asksGzip;
    const payload = this.#payload;
    if (payload !== null && !(payload instanceof Uint8Array)) {
      const length = this.#request.body?.length;
      if (length !== undefined) list.push('Content-Length', String(length));
    }
    dispatcher.dispatch(
      {
        origin: this.origin,
        path: this.target,
        method: this.method,
        headers: lane.proxied ? headerRecord(list) : list,
        body: payload,
        // A connection is told to close when there are already as many as are worth keeping.
        reset: client.transport.crowded(lane) ? true : undefined,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      this,
    );
  }

  /** Goes where a redirect leads. @returns false when the redirect is itself the answer. */
  #redirected(status: number, bag: HeaderBag): boolean {
    const payload = this.#payload;
    if (repeatsBody(status) && payload !== null && !this.#client.resendsBody) return false;
    const next = nextHop(status, bag.get('location'), this);
    if (next instanceof BackendError) {
      this.#reason = next;
      this.#controller?.abort(next);
      this.#over(next);
      return true;
    }
    this.#state = DISCARDING;
    const request = this.#request;
    request.origin = next.origin;
    request.target = next.target;
    const follower = new Exchange(this.#client, request, this.#call, next.keepsBody ? payload : null, this.#resolve);
    follower.method = next.method;
    follower.headers = next.headers;
    follower.hops = this.hops + 1;
    follower.firstOrigin = this.firstOrigin;
    follower.send();
    return true;
  }

  /** True when a connection that had waited unused died before the backend said anything, and asking again is safe. */
  #retriable(error: Error): boolean {
    if (this.#answered || this.#retried || !this.#reused || this.#payload !== null) return false;
    if (this.#state !== WAITING || this.#controller === null || !idempotent.has(this.method)) return false;
    const { code } = error as NodeJS.ErrnoException;
    return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
  }

  #retry(): void {
    const lane = this.#lane!;
    this.#retried = true;
    this.#controller = null;
    this.#disarm();
    const single = lane.once();
    this.#dispatch(single ?? lane.dispatcher, lane);
    void single?.close();
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

/** Methods that may be sent twice to the same effect as once. */
const idempotent = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

/** True for a gzip body; its encoding and length are taken off, since neither is true of the inflated body. */
function isGzip(bag: HeaderBag): boolean {
  const encoding = bag.get('content-encoding')?.toLowerCase();
  if (encoding !== 'gzip' && encoding !== 'x-gzip') return false;
  bag.delete('content-encoding');
  bag.delete('content-length');
  return true;
}
