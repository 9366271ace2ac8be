import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got from 'got';
import type { DeniedAddresses } from '#contract';

/** Longest time for a write, in milliseconds. */
const WRITE_MS = 10_000;
/** Longest time for a ping, in milliseconds. */
const PING_MS = 1000;
/** Bytes of a reply, of which nothing but its status matters. */
const MAX_REPLY_BYTES = 65_536;

export interface InfluxOptions {
  /** As in `https://influx.internal:8086`, with no slash at its end. */
  readonly address: string;
  readonly db: string;
  /** Sent as Basic; null for none. */
  readonly credentials: { readonly username: string; readonly password: string } | null;
  /** In PEM, what its certificate may be signed by. Undefined for what the system trusts. */
  readonly authorities: readonly string[] | undefined;
  readonly denied: Pick<DeniedAddresses, 'has'>;
  /** Longest time for a write, in milliseconds. Default 10 s. */
  readonly timeoutMs?: number;
}

interface RequestOptions {
  readonly method: 'GET' | 'POST';
  readonly body?: string;
}

/** An InfluxDB server. Each request has a connection of its own: between two of them the server would close it. */
export class InfluxServer {
  readonly #options: InfluxOptions;

  constructor(options: InfluxOptions) {
    this.#options = options;
  }

  /** Writes lines. @throws Error with the reason, as it goes into the log. */
  async write(lines: string, signal: AbortSignal): Promise<void> {
    const { db, timeoutMs = WRITE_MS } = this.#options;
    const path = `/write?${new URLSearchParams({ db, precision: 's' })}`;
    await this.#send(path, { method: 'POST', body: lines }, timeoutMs, signal);
  }

  /** @throws Error as of `write`. */
  async ping(signal: AbortSignal): Promise<void> {
    await this.#send('/ping', { method: 'GET' }, PING_MS, signal);
  }

  async #send(path: string, options: RequestOptions, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { address, credentials, authorities, denied } = this.#options;
    const { hostname, port, protocol } = new URL(address);
    const number = Number(port || (protocol === 'https:' ? 443 : 80));
    const refusal = new AbortController();
    const request = got(address + path, {
      ...options,
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        ...(credentials && { authorization: basic(credentials) }),
      },
      agent: { http: new HttpAgent(), https: new HttpsAgent() },
      ...(authorities && { https: { certificateAuthority: [...authorities] } }),
      timeout: { request: timeoutMs },
      retry: { limit: 0 },
      followRedirect: false,
      throwHttpErrors: false,
      decompress: false,
      signal: AbortSignal.any([signal, refusal.signal]),
    });
    request.on('request', (sent) => {
      sent.once('socket', (socket) => {
        socket.once('connect', () => {
          if (!denied.has(socket.remoteAddress ?? '', number)) return;
          sent.destroy(new Error(`${hostname}:${number} is the gateway's own admin port`));
        });
      });
    });
    request.on('downloadProgress', ({ transferred }) => {
      if (transferred > MAX_REPLY_BYTES) refusal.abort();
    });
    const { statusCode } = await request;
    if (statusCode < 200 || statusCode > 299) throw new Error(`status ${statusCode}`);
  }
}

function basic({ username, password }: { readonly username: string; readonly password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
