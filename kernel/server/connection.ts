import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { timerMs } from '#contract';
import { abandon, endStalled } from './exchange-context.ts';
import { inspectHead } from './framing.ts';
import { untaken } from './internals.ts';
import { Progress } from './progress.ts';
import { endPolitely, refusal } from './refusal.ts';
import type { LogRefusedQuery } from './refused-queries.ts';

/** Pipelined requests that may wait on one connection. */
const PIPELINE_LIMIT = 100;

/** What the connections of one listener share; it may change while they live. */
export interface ConnectionRules {
  readonly serve: (message: IncomingMessage, response: ServerResponse) => void;
  readonly logRefusedQuery: LogRefusedQuery;
  /** From the end of a request's head to the end of its response, in milliseconds; 0 for no limit. */
  writeTimeoutMs: number;
  /** Time limit for a client that does not read pending data, in milliseconds; 0 disables it. */
  sendTimeoutMs: number;
  /** Number of requests after which a connection ends; 0 disables the limit. */
  maxRequests: number;
  /** No further request is taken. */
  closing: boolean;
}

/**
 * One HTTP/1 connection. Its requests are served one after another, however many were sent at once: so what follows a
 * refusal never runs, and a refusal comes only after the answers before it.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #rules: ConnectionRules;
  #current: ServerResponse | null = null;
  #waiting: ServerResponse[] | null = null;
  /** Status of the refusal that ends the connection; 0 while it goes on. */
  #refusal = 0;
  /** Requests so far. */
  #requests = 0;
  #writeTimer: NodeJS.Timeout | null = null;
  /** Null until something has waited for the client. */
  #progress: Progress | null = null;
  readonly #next = (): void => this.#onAnswered();

  constructor(socket: Socket, rules: ConnectionRules) {
    this.#socket = socket;
    this.#rules = rules;
  }

  /** No request is under way. */
  get free(): boolean {
    return this.#current === null && this.#refusal === 0;
  }

  /** Takes a request whose head has arrived. */
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

  /** A response has ended: the next request's turn, or the refusal's. */
  #onAnswered(): void {
    this.#current = null;
    if (this.#writeTimer) clearTimeout(this.#writeTimer);
    this.#writeTimer = null;
    if (this.#socket.writableEnded || this.#socket.destroyed) return;
    const next = this.#waiting?.shift();
    if (next) this.#begin(next.req, next);
    else if (this.#refusal !== 0) this.#end();
    else if (this.#rules.closing) this.#socket.destroySoon();
  }

  /**
   * Takes no further request, answers those before, then this status, and closes. A request whose own body is at fault
   * is aborted and answered so.
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

  /** Ends now, whatever is being answered. */
  cut(): void {
    if (this.#current) abandon(this.#current.req, 503);
    this.#socket.destroy();
  }

  /** The listener closes: what is being answered is answered, a connection without work ends now. */
  drain(): void {
    if (this.#current === null) this.#socket.destroySoon();
    else if (!this.#current.headersSent) this.#current.shouldKeepAlive = false;
  }
}
