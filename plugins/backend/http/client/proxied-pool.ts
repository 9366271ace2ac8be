import type { Dispatcher, ProxyAgent } from 'undici';
import { type DeniedAddresses, FirstUse, timerMs } from '#contract';
import type { TlsClient } from '../../../clients/tls/client-tls.ts';
import type { AnswerHandler } from './answer-handler.ts';
import { headerRecord } from './headers.ts';
import { refusing } from './refusing.ts';
import type { Sending } from './sending.ts';

/** Settings of connections through a proxy. Times in milliseconds. */
export interface ProxiedOptions {
  /** Address of the backend, such as `http://host:port`. */
  readonly address: string;
  /** Address of the proxy, such as `http://name:password@host:port`. */
  readonly proxy: string;
  /** Timeout for connecting to the proxy; 0 for the default. */
  readonly connectMs: number;
  /** Idle timeout of a connection; 0 for no limit. */
  readonly idleMs: number;
  /** False to use each connection for one request only. */
  readonly keepAlive: boolean;
  readonly tls: TlsClient;
  readonly denied: DeniedAddresses;
}

/** Maximum size of response headers, in bytes. */
const MAX_HEADER_BYTES = 1024 * 1024;
const CONNECT_MS = 10_000;

interface Opened {
  readonly agent: ProxyAgent;
  readonly careful: Pick<Dispatcher, 'dispatch'>;
}

/** Sends requests to one address through a proxy. Uses undici, which is loaded at the first request. */
export class ProxiedPool {
  readonly #serverName: string | undefined;
  readonly #opened: FirstUse<Opened>;

  constructor(options: ProxiedOptions) {
    this.#opened = new FirstUse(() => open(options));
    // The server name is the same for all requests, regardless of `Host`, because the library opens a new connection
    // whenever the name changes.
    this.#serverName = options.address.startsWith('https:') ? new URL(options.address).hostname : undefined;
  }

  dispatch(sending: Sending, handler: AnswerHandler): void {
    this.#opened
      .get()
      .then(({ careful }) => careful.dispatch(this.#translate(sending), handler))
      .catch((error: Error) => handler.onResponseError(null, error));
  }

  async close(): Promise<void> {
    await (await this.#opened.made())?.agent.close();
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
  return { agent, careful: agent.compose(refusing(denied, [proxy, address], connectMs || CONNECT_MS)) };
}
