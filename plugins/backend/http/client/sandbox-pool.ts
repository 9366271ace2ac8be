import type { Readable } from 'node:stream';
import { type Sandbox, type SandboxFailure, type SandboxResponse, timerMs } from '#contract';
import type { AnswerHandler, Attempt } from './answer-handler.ts';
import type { FreshMark } from './connector.ts';
import { invalidRequest, TransportError } from './errors.ts';
import { withoutUser } from './failure.ts';
import type { Payload } from './payload.ts';
import type { Dispatching, Sending } from './sending.ts';

/**
 * Every connection of a sandbox counts as new, so that a failure on it is attributed to the server and not retried
 * silently.
 */
const opened = { dnsMs: 0, connectMs: 0, tlsMs: 0 };

/** Responds to requests in place of a server, without a connection. */
export class SandboxPool implements Dispatching {
  readonly #sandbox: Sandbox;
  readonly #real: Dispatching;
  readonly #mark: FreshMark;

  /** @param real sends the requests that the sandbox leaves to the network. */
  constructor(sandbox: Sandbox, real: Dispatching, mark: FreshMark) {
    this.#sandbox = sandbox;
    this.#real = real;
    this.#mark = mark;
  }

  dispatch(sending: Sending, handler: AnswerHandler, forceNew = false): void {
    const attempt = new SandboxAttempt(handler);
    collect(sending.body, this.#sandbox.bodyLimitBytes)
      .then((body) => {
        if (attempt.isOver) return;
        const { method, origin, path, headers } = sending;
        const url = withoutUser(origin) + path;
        const response = this.#sandbox.respond({ protocol: 'http', method, url, headers, body });
        if (response === null) {
          this.#real.dispatch({ ...sending, body: sending.body === null ? null : body }, handler, forceNew);
          return;
        }
        this.#mark.fresh = opened;
        handler.onRequestStart(attempt);
        this.#mark.fresh = null;
        attempt.answer(response, method === 'HEAD');
      })
      .catch((error: Error) => attempt.fail(error));
  }

  close(): Promise<void> {
    return this.#real.close();
  }
}

/** One request that the sandbox responds to. */
class SandboxAttempt implements Attempt {
  /** The headers of the response, as bytes. */
  rawHeaders: unknown = null;
  readonly #handler: AnswerHandler;
  #timer: NodeJS.Timeout | null = null;
  isOver = false;

  constructor(handler: AnswerHandler) {
    this.#handler = handler;
  }

  pause(): void {}

  resume(): void {}

  abort(reason: Error): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.fail(reason);
  }

  fail(error: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#handler.onResponseError(this, error);
  }

  answer(response: SandboxResponse, isHead: boolean): void {
    if (this.isOver) return;
    this.#handler.onRequestSent();
    if (response.failure === 'hang') return;
    const finish = () => this.#finish(response, isHead);
    if (response.delayMs > 0) this.#timer = setTimeout(finish, timerMs(response.delayMs));
    else finish();
  }

  #finish({ status, headers, body, failure }: SandboxResponse, isHead: boolean): void {
    if (this.isOver) return;
    if (failure) return this.fail(errorOf(failure));
    this.rawHeaders = headers.map((text) => Buffer.from(text, 'latin1'));
    this.#handler.onResponseStarted();
    this.#handler.onResponseStart(this, status);
    if (this.isOver) return;
    if (body.length > 0 && !isHead) this.#handler.onResponseData(this, Buffer.from(body));
    if (this.isOver) return;
    this.isOver = true;
    this.#handler.onResponseEnd(this);
  }
}

const codes: Readonly<Partial<Record<SandboxFailure, string>>> = {
  refused: 'ECONNREFUSED',
  reset: 'ECONNRESET',
  dns: 'ENOTFOUND',
  tls: 'ERR_TLS_HANDSHAKE_FAILED',
};

function errorOf(failure: SandboxFailure): Error {
  if (failure === 'timeout') return new TransportError('CONNECT_TIMEOUT', 'no connection in time');
  return Object.assign(new Error(`mocked failure: ${failure}`), { code: codes[failure] });
}

async function collect(payload: Payload, limit: number): Promise<Uint8Array> {
  if (payload === null) return new Uint8Array();
  if (payload instanceof Uint8Array) return payload;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of payload as Readable & AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > limit) throw invalidRequest(`the body exceeds ${limit} bytes, the limit of a sandbox`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
