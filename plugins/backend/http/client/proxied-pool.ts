import type { Dispatcher, ProxyAgent } from 'undici';
import { type DeniedAddresses, timerMs } from '#contract';
import type { TlsClient } from '../../../services/client-tls.ts';
import type { AnswerHandler } from './answer-handler.ts';
import { headerRecord } from './headers.ts';
import { refusing } from './refusing.ts';
import type { Sending } from './sending.ts';

/** How connections through a proxy are made and kept. Times in milliseconds. */
export interface ProxiedOptions {
  /** Of what is called, as in `http://host:port`. */
  readonly address: string;
  /** As in `http://name:password@host:port`. */
  readonly proxy: string;
  /** Longest time to connect to the proxy; 0 for the default. */
  readonly connectMs: number;
  /** Longest life of an unused connection; 0 for no limit. */
  readonly idleMs: number;
  /** False for one request per connection. */
  readonly keepAlive: boolean;
  readonly tls: TlsClient;
  readonly denied: DeniedAddresses;
}

/** Bytes an answer's headers may have. */
const MAX_HEADER_BYTES = 1024 * 1024;
const CONNECT_MS = 10_000;

interface Opened {
  readonly agent: ProxyAgent;
  readonly careful: Pick<Dispatcher, 'dispatch'>;
}

/** Requests to one address through a proxy, by the library for that, which is loaded with the first. */
export class ProxiedPool {
  readonly #options: ProxiedOptions;
  readonly #serverName: string | undefined;
  #opened: Promise<Opened> | null = null;

  constructor(options: ProxiedOptions) {
    this.#options = options;
    // The same for all requests, whatever `Host` they send: with another one the library would connect anew.
    this.#serverName = options.address.startsWith('https:') ? new URL(options.address).hostname : undefined;
  }

  dispatch(sending: Sending, handler: AnswerHandler): void {
    this.#opened ??= open(this.#options);
    this.#opened
      .then(({ careful }) => careful.dispatch(this.#translate(sending), handler))
      .catch((error: Error) => handler.onResponseError(null, error));
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => null);
    await opened?.agent.close();
  }

  #translate({ origin, path, method, headers, body, isLast }: Sending): Dispatcher.DispatchOptions {
    return {
      origin,
      path,
      method,
      headers: headerRecord(headers),
      body,
      servername: this.#serverName,
      reset: isLast ? true : undefined,
      headersTimeout: 0,
      bodyTimeout: 0,
    } as Dispatcher.DispatchOptions;
  }
}

async function open({ address, proxy, connectMs, idleMs, keepAlive, tls, denied }: ProxiedOptions): Promise<Opened> {
  const { ProxyAgent } = await import('undici');
  const keepAliveMs = timerMs(idleMs > 0 ? idleMs : Number.POSITIVE_INFINITY);
  const agent = new ProxyAgent({
    pipelining: keepAlive ? 1 : 0,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    allowH2: false,
    uri: proxy,
    connectTimeout: connectMs || CONNECT_MS,
    requestTls: tls as ProxyAgent.Options['requestTls'],
    ...(proxy.startsWith('https:') && { proxyTls: tls as ProxyAgent.Options['proxyTls'] }),
  });
  return { agent, careful: agent.compose(refusing(denied, [proxy, address])) };
}
