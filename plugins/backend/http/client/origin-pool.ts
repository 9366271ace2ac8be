import { Client, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { type ConnectionTimes, type DeniedAddresses, timerMs } from '#contract';
import type { TlsClient } from '../../../services/client-tls.ts';
import { connector, type DialSettings, type FreshMark } from './connector.ts';
import { Http2Pool } from './http2-pool.ts';
import { environmentProxy, type ProxyEnvironment } from './proxy.ts';
import { refusing } from './refusing.ts';

/** Everything a set of connections depends on. Two backends with equal settings share connections. */
export interface TransportSettings {
  readonly dial: DialSettings;
  /** Longest life of an unused connection, in milliseconds; 0 for no limit. */
  readonly idleMs: number;
  /** The same where requests name the address; always limited. */
  readonly passingIdleMs: number;
  /** Unused connections kept to one host. */
  readonly maxIdlePerHost: number;
  /** Unused connections kept to all hosts; 0 for no limit. */
  readonly maxIdle: number;
  /** False for one request per connection. */
  readonly keepAlive: boolean;
  /** HTTP/2 where a backend chooses it over TLS, and to addresses without TLS. */
  readonly http2: boolean;
  /** Proxy for every call; undefined for what the environment says. */
  readonly proxy: string | undefined;
  readonly environment: ProxyEnvironment;
  /** Whose only connection it is; undefined for as many as it takes. */
  readonly own: string | undefined;
  /** Asked for at the first encrypted connection. */
  readonly tls: () => TlsClient;
  /** Where no connection may lead. */
  readonly denied: DeniedAddresses;
}

/** Bytes an answer's headers may have. */
const MAX_HEADER_BYTES = 1024 * 1024;
const CONNECT_VIA_PROXY_MS = 10_000;
/** How long a connection may take that all requests wait for. */
const HTTP2_DIAL_MS = 20_000;

/** Sends requests. */
export type Dispatching = Pick<Dispatcher, 'close'> & {
  dispatch(...request: Parameters<Dispatcher['dispatch']>): unknown;
};

/** The connections to one address. */
export class OriginPool implements FreshMark {
  /** As in `http://host:port`. */
  readonly address: string;
  readonly dispatcher: Dispatching;
  readonly proxied: boolean;
  /** The same for all requests, whatever `Host` they send: with another one the library would connect anew. */
  readonly serverName: string | undefined;
  /** Calls on their way. */
  active = 0;
  fresh: ConnectionTimes | null = null;
  #options: Client.Options;

  constructor(address: string, settings: TransportSettings) {
    this.address = address;
    this.serverName = address.startsWith('https:') ? new URL(address).hostname : undefined;
    const keepAliveMs = timerMs(settings.idleMs > 0 ? settings.idleMs : Number.POSITIVE_INFINITY);
    this.#options = {
      pipelining: settings.keepAlive ? 1 : 0,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
      allowH2: false,
    };
    const proxy = settings.proxy ?? environmentProxy(settings.environment, address);
    this.proxied = proxy !== undefined;
    if (proxy === undefined) {
      this.#options.connect = connector(settings.dial, settings.denied, settings.tls, this);
      const connections = settings.own === undefined ? null : 1;
      const pool = new Pool(address, { ...this.#options, connections });
      this.dispatcher = settings.http2 ? this.#withHttp2(settings, pool) : pool;
    } else {
      this.dispatcher = proxied(proxy, this.#options, settings).compose(refusing(settings.denied, [proxy, address]));
    }
  }

  /** A single new connection, to be closed by the caller; null where the dispatcher makes one by itself. */
  once(): Client | null {
    return this.proxied || this.dispatcher instanceof Http2Pool
      ? null
      : new Client(this.address, { ...this.#options, pipelining: 0 });
  }

  /** True when no call runs and no connection is open; of those through a proxy nobody can tell. */
  get unused(): boolean {
    const { dispatcher } = this;
    if (this.active > 0) return false;
    return dispatcher instanceof Http2Pool
      ? dispatcher.isUnused
      : dispatcher instanceof Pool && dispatcher.stats.connected === 0;
  }

  #withHttp2({ dial, denied, tls, idleMs }: TransportSettings, http1: Pool): Http2Pool {
    const limited = { ...dial, timeoutMs: dial.timeoutMs || HTTP2_DIAL_MS };
    const connect = connector(limited, denied, tls, this, true);
    return new Http2Pool(this.address, connect, this, http1, idleMs);
  }
}

function proxied(proxy: string, options: Client.Options, settings: TransportSettings): ProxyAgent {
  const tls = settings.tls();
  const { connect: _, ...common } = options;
  return new ProxyAgent({
    ...common,
    uri: proxy,
    connectTimeout: settings.dial.timeoutMs || CONNECT_VIA_PROXY_MS,
    requestTls: tls as ProxyAgent.Options['requestTls'],
    ...(proxy.startsWith('https:') && { proxyTls: tls as ProxyAgent.Options['proxyTls'] }),
  });
}
