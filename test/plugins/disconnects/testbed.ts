import { deepEqual } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { openRaw } from '../../kernel/server/raw.ts';
import { until } from '../../support/conditions.ts';
import { partsOf, rememberingSinks, startGateway } from '../../support/gateway.ts';

/** State of a request when its client disconnects. */
export interface Case {
  readonly endpoint: object;
  readonly root?: object;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string;
  /** Bytes of the body that the client has not sent when it disconnects. */
  readonly missing?: number;
}

/** A gateway whose clients disconnect, and the errors that it counts and logs. */
export class DisconnectTestbed {
  readonly #sinks = rememberingSinks();
  #gateway: Operations | null = null;
  #port = 0;

  async start({ endpoint, root }: Case): Promise<void> {
    const endpoints = [{ endpoint: '/a', timeout: '60s', ...endpoint }];
    this.#gateway = await startGateway({ ...root, endpoints }, { sinks: this.#sinks });
    ({ port: this.#port } = await this.#gateway.listen());
    this.forget();
  }

  async close(): Promise<void> {
    await this.#gateway?.close();
    this.#gateway = null;
    this.forget();
  }

  /** Drops the lines logged so far, such as warnings about the configuration. */
  forget(): void {
    this.#sinks.lines.length = 0;
  }

  get #running(): number {
    const { calls, streams } = this.#gateway!.status;
    return calls + streams;
  }

  /** Number of received requests. A request to a broker without confirmations can end before the test sees it running. */
  get #received(): number {
    return partsOf(this.#gateway!).generations.requests;
  }

  /** A client that sends the request and disconnects once the server or broker has received it. */
  async disconnect(given: Case, isReached: () => boolean | Promise<boolean> = () => true): Promise<void> {
    const { method = 'GET', headers = {}, payload = '', missing = 0 } = given;
    const received = this.#received;
    const { socket, write } = await openRaw(this.#port);
    const all = {
      Host: 'a',
      ...headers,
      ...(payload !== '' && { 'Content-Length': String(payload.length + missing) }),
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    write(`${method} /a HTTP/1.1\r\n${lines.join('')}\r\n${payload}`);
    await until(async () => this.#received > received && (await isReached()));
    socket.resetAndDestroy();
    await until(() => this.#running === 0);
  }

  /** Status of the response; for a server error, with the log. */
  async ask(given: Case): Promise<number | string> {
    const { statusCode } = await this.respond(given);
    return statusCode < 500 ? statusCode : `${statusCode}\n${this.#sinks.lines.join('')}`;
  }

  respond({ method = 'GET', headers = {}, payload = '' }: Case) {
    return this.#gateway!.inject({ method, url: '/a', headers, payload } as never);
  }

  /** Asserts that no error of a server or a broker was counted or logged. */
  blamesNobody(): void {
    const { published } = partsOf(this.#gateway!).generations.current.runtime.compiled;
    const lines = this.#sinks.lines.filter((line) => / (?:ERROR|CRITICAL|WARNING)/.test(line));
    deepEqual({ errors: published[0]!.traffic.errors, lines }, { errors: 0, lines: [] });
  }
}
