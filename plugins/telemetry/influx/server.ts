import { type Outgoing, type OutgoingRequest, send } from '../lib/outgoing.ts';

/** Timeout for a write, in milliseconds. */
const WRITE_MS = 10_000;
/** Timeout for a ping, in milliseconds. */
const PING_MS = 1000;

export interface InfluxOptions extends Outgoing {
  /** Base URL without a trailing slash, as in `https://influx.internal:8086`. */
  readonly address: string;
  readonly db: string;
  /** Credentials for Basic authentication; null for none. */
  readonly credentials: { readonly username: string; readonly password: string } | null;
  /** Timeout for a write, in milliseconds. Default: 10 seconds. */
  readonly timeoutMs?: number;
}

/** Client of an InfluxDB server. */
export class InfluxServer {
  readonly #options: InfluxOptions;

  constructor(options: InfluxOptions) {
    this.#options = options;
  }

  /** Writes lines. @throws Error with the reason, worded for the log. */
  async write(lines: string, signal: AbortSignal): Promise<void> {
    const { db, timeoutMs = WRITE_MS } = this.#options;
    const path = `/write?${new URLSearchParams({ db, precision: 's' })}`;
    await this.#send(path, { method: 'POST', body: lines, timeoutMs, signal });
  }

  /** Sends a ping. @throws the errors of `write`. */
  async ping(signal: AbortSignal): Promise<void> {
    await this.#send('/ping', { method: 'GET', timeoutMs: PING_MS, signal });
  }

  async #send(path: string, request: Omit<OutgoingRequest, 'headers'>): Promise<void> {
    const { address, credentials } = this.#options;
    const headers = {
      'content-type': 'text/plain; charset=utf-8',
      ...(credentials && { authorization: basic(credentials) }),
    };
    const status = await send(address + path, { ...request, headers }, this.#options);
    if (status < 200 || status > 299) throw new Error(`status ${status}`);
  }
}

function basic({ username, password }: { readonly username: string; readonly password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
