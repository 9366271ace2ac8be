import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { timerMs } from '#contract';
import { abandon, endStalled } from '../exchange/context.ts';
import { afterArrivals } from '../port/after-arrivals.ts';
import { untaken } from '../port/internals.ts';
import { Progress } from '../port/progress.ts';
import type { LogRefusedQuery } from '../port/refused-queries.ts';
import { endPolitely, refusal } from '../response/refusal.ts';
import { inspectHead } from './framing.ts';

/** Maximum number of pipelined requests waiting on one connection. */
const PIPELINE_LIMIT = 100;

/** Settings shared by the connections of one listener; they can change during a connection's life. */
export interface ConnectionRules {
  readonly serve: (message: IncomingMessage, response: ServerResponse) => void;
  readonly logRefusedQuery: LogRefusedQuery;
  /** Time limit from the end of a request's head to the end of its response, in milliseconds; 0 disables it. */
  writeTimeoutMs: number;
  /** Time limit for a client that does not read pending data, in milliseconds; 0 disables it. */
  sendTimeoutMs: number;
  /** Time limit for the rest of a body whose request has been answered, in milliseconds; 0 disables it. */
  restTimeoutMs: number;
  /** Number of requests after which a connection ends; 0 disables the limit. */
  maxRequests: number;
  /** True if the connection accepts no further requests. */
  closing: boolean;
}

/**
 * One HTTP/1 connection. Pipelined requests are processed one at a time, so requests after a rejected one never run,
 * and an error response is sent only after the preceding responses.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #rules: ConnectionRules;
  #current: ServerResponse | null = null;
  #waiting: ServerResponse[] | null = null;
  /** Status of the error response that ends the connection; 0 while the connection is open. */
  #refusal = 0;
  /** Number of requests so far. */
  #requests = 0;
  #writeTimer: NodeJS.Timeout | null = null;
  /** Null until data has been pending for the client. */
  #progress: Progress | null = null;
  readonly #next = (): void => this.#onAnswered();

  constructor(socket: Socket, rules: ConnectionRules) {
    this.#socket = socket;
    this.#rules = rules;
  }

  /** True if no request of the connection is in progress. */
  get free(): boolean {
    return this.#current === null && this.#refusal === 0;
  }

  /** Accepts a request whose head has arrived. */
  accept(message: IncomingMessage, response: ServerResponse): void {
    if (this.#refusal !== 0 || this.#socket.writableEnded) {
      message.resume();
    } else if (this.#current === null) {
      this.#begin(message, response);
    } else {
      this.#waiting ??= [];
      if (this.#waiting.length < PIPELINE_LIMIT) this.#waiting.push(response);
      else this.refuse(503);
    }
  }

  #begin(message: IncomingMessage, response: ServerResponse): void {
    const status = inspectHead(message);
    if (status !== 0) {
      if (status === 414) this.#rules.logRefusedQuery(message);
      message.resume();
      return this.refuse(status);
    }
    const { writeTimeoutMs, maxRequests, closing, serve } = this.#rules;
    this.#current = response;
    response.on('close', this.#next);
    this.#requests++;
    if (closing || (maxRequests > 0 && this.#requests >= maxRequests)) response.shouldKeepAlive = false;
    if (writeTimeoutMs > 0) {
      this.#writeTimer = setTimeout(() => this.cut(), timerMs(writeTimeoutMs));
      response.once('switched', () => clearTimeout(this.#writeTimer!));
    }
    serve(message, response);
  }

  /** A response has ended: starts the next request, or sends the pending error response. */
  #onAnswered(): void {
    const answered = this.#current;
    this.#current = null;
    if (this.#writeTimer) clearTimeout(this.#writeTimer);
    this.#writeTimer = null;
    if (this.#socket.writableEnded || this.#socket.destroyed) return;
    if (answered !== null && !answered.req.complete) this.#limitRest(answered.req);
    const next = this.#waiting?.shift();
    if (next) this.#begin(next.req, next);
    else if (this.#refusal !== 0) this.#end();
    else if (this.#rules.closing) this.#socket.destroySoon();
  }

  /**
   * Closes the connection if the rest of an answered request's body does not arrive in time. Node's own timeout
   * restarts with every byte, so a client that sends slowly could keep the connection open forever.
   */
  #limitRest(message: IncomingMessage): void {
    const { restTimeoutMs } = this.#rules;
    if (restTimeoutMs === 0) return;
    const timer = setTimeout(() => this.#socket.destroy(), timerMs(restTimeoutMs));
    const stop = (): void => {
      clearTimeout(timer);
      this.#socket.off('close', stop);
    };
    message.once('end', stop);
    this.#socket.once('close', stop);
  }

  /**
   * Accepts no further requests, completes the pending ones, sends this status, and closes. If the current request's
   * own body is invalid, that request is aborted and gets this status as its response.
   */
  refuse(status: number): void {
    if (this.#refusal !== 0) return;
    this.#refusal = status;
    const current = this.#current;
    if (current === null) return this.#end();
    if (current.req.complete) return;
    if (current.headersSent) {
      this.#socket.destroy();
      return;
    }
    abandon(current.req, status);
    this.#end();
  }

  #end(): void {
    this.#socket.write(refusal(this.#refusal));
    endPolitely(this.#socket);
  }

  /** Closes the connection if its client has stopped reading. @param now monotonic, in milliseconds. */
  checkProgress(now: number): void {
    const socket = this.#socket;
    const current = this.#current;
    const limitMs = this.#rules.sendTimeoutMs;
    const waiting = current === null ? 0 : socket.writableLength;
    if (waiting === 0 && this.#progress === null) return;
    this.#progress ??= new Progress();
    const taken = { waits: waiting > 0, bytes: socket.bytesWritten - waiting, rest: untaken(socket) };
    if (this.#progress.stalledMs(taken, now) < limitMs) return;
    endStalled(current!.req, limitMs);
    socket.destroy();
  }

  /** Closes the connection immediately, aborting any response in progress. */
  cut(): void {
    if (this.#current) abandon(this.#current.req, 503);
    this.#socket.destroy();
  }

  /**
   * Called when the listener closes: a response in progress is completed; an idle connection is closed after a delay in
   * which a request that has already arrived is still read.
   */
  drain(): void {
    if (this.#current === null) afterArrivals(() => this.#current === null && this.#socket.destroySoon());
    else if (!this.#current.headersSent) this.#current.shouldKeepAlive = false;
  }
}
