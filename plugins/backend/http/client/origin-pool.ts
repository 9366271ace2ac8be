import { type Client, type Dispatcher, ProxyAgent } from 'undici';
import { type ConnectionTimes, type DeniedAddresses, timerMs } from '#contract';
import type { TlsClient } from '../../../services/client-tls.ts';
import { connector, type DialSettings, type FreshMark } from './connector.ts';
import { dispatchOptions, type Sending } from './dispatch-options.ts';
import { Http1Pool } from './http1/pool.ts';
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

/** Bytes an answer's headers may have that comes through a proxy. */
const MAX_HEADER_BYTES = 1024 * 1024;
const CONNECT_VIA_PROXY_MS = 10_000;
/** How long a connection may take that all requests wait for. */
const HTTP2_DIAL_MS = 20_000;

/** Sends requests. */
export interface Dispatching {
  /** @param isAnew on a connection that has carried nothing, where connections are known. */
  dispatch(sending: Sending, handler: Dispatcher.DispatchHandler, isAnew?: boolean): void;
  /** Ends every connection, each after the answer it waits for. */
  close(): Promise<void>;
}

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

  constructor(address: string, settings: TransportSettings) {
    this.address = address;
    this.serverName = address.startsWith('https:') ? new URL(address).hostname : undefined;
    const proxy = settings.proxy ?? environmentProxy(settings.environment, address);
    this.proxied = proxy !== undefined;
    this.dispatcher = proxy === undefined ? this.#direct(settings) : this.#proxied(proxy, settings);
  }

  /** True when no call runs and no connection is open; of those through a proxy nobody can tell. */
  get unused(): boolean {
    const { dispatcher } = this;
    if (this.active > 0) return false;
    return (dispatcher instanceof Http1Pool || dispatcher instanceof Http2Pool) && dispatcher.isUnused;
  }

  #direct({ dial, denied, tls, idleMs, keepAlive, own, http2 }: TransportSettings): Dispatching {
    const { address } = this;
    const http1 = new Http1Pool({
      address,
      connect: connector(address, dial, denied, tls, this),
      idleMs,
      keepAlive,
      maxConnections: own === undefined ? Number.POSITIVE_INFINITY : 1,
    });
    if (!http2) return http1;
    const limited = { ...dial, timeoutMs: dial.timeoutMs || HTTP2_DIAL_MS };
    return new Http2Pool(address, connector(address, limited, denied, tls, this, true), this, http1, idleMs);
  }

  #proxied(proxy: string, settings: TransportSettings): Dispatching {
    const agent = proxyAgent(proxy, settings);
    const careful = agent.compose(refusing(settings.denied, [proxy, this.address]));
    return {
      dispatch: (sending, handler) => void careful.dispatch(dispatchOptions(sending, this), handler),
      close: () => agent.close(),
    };
  }
}

function proxyAgent(proxy: string, settings: TransportSettings): ProxyAgent {
  const tls = settings.tls();
  const keepAliveMs = timerMs(settings.idleMs > 0 ? settings.idleMs : Number.POSITIVE_INFINITY);
  const common: Client.Options = {
    pipelining: settings.keepAlive ? 1 : 0,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    allowH2: false,
  };
  return new ProxyAgent({
    ...common,
    uri: proxy,
    connectTimeout: settings.dial.timeoutMs || CONNECT_VIA_PROXY_MS,
    requestTls: tls as ProxyAgent.Options['requestTls'],
    ...(proxy.startsWith('https:') && { proxyTls: tls as ProxyAgent.Options['proxyTls'] }),
  });
}
