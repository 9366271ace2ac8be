import { type Outgoing, type OutgoingRequest, send } from '../lib/outgoing.ts';

/** Longest time for a write, in milliseconds. */
const WRITE_MS = 10_000;
/** Longest time for a ping, in milliseconds. */
const PING_MS = 1000;

export interface InfluxOptions extends Outgoing {
  /** As in `https://influx.internal:8086`, with no slash at its end. */
  readonly address: string;
  readonly db: string;
  /** Sent as Basic; null for none. */
  readonly credentials: { readonly username: string; readonly password: string } | null;
  /** Longest time for a write, in milliseconds. Default 10 s. */
  readonly timeoutMs?: number;
}

/** An InfluxDB server. */
export class InfluxServer {
  readonly #options: InfluxOptions;

  constructor(options: InfluxOptions) {
    this.#options = options;
  }

  /** Writes lines. @throws Error with the reason, as it goes into the log. */
  async write(lines: string, signal: AbortSignal): Promise<void> {
    const { db, timeoutMs = WRITE_MS } = this.#options;
    const path = `/write?${new URLSearchParams({ db, precision: 's' })}`;
    await this.#send(path, { method: 'POST', body: lines, timeoutMs, signal });
  }

  /** @throws Error as of `write`. */
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
