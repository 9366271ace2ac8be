import type { ConnectionTimes, DeniedAddresses } from '#contract';
import type { TlsClient } from '../../../services/client-tls.ts';
import type { AnswerHandler } from './answer-handler.ts';
import { connector, type DialSettings, type FreshMark } from './connector.ts';
import { Http1Pool } from './http1/pool.ts';
import { Http2Pool } from './http2-pool.ts';
import { ProxiedPool } from './proxied-pool.ts';
import { environmentProxy, type ProxyEnvironment } from './proxy.ts';
import type { Sending } from './sending.ts';

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

/** Sends requests. */
export interface Dispatching {
  /** @param isAnew on a connection that has carried nothing, where connections are known. */
  dispatch(sending: Sending, handler: AnswerHandler, isAnew?: boolean): void;
  /** Ends every connection, each after the answer it waits for. */
  close(): Promise<void>;
}

/** The connections to one address. */
export class OriginPool implements FreshMark {
  /** As in `http://host:port`. */
  readonly address: string;
  readonly dispatcher: Dispatching;
  readonly proxied: boolean;
  /** Calls on their way. */
  active = 0;
  fresh: ConnectionTimes | null = null;

  constructor(address: string, settings: TransportSettings) {
    this.address = address;
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
    return new Http2Pool(address, connector(address, dial, denied, tls, this, true), this, http1, idleMs);
  }

  #proxied(proxy: string, { dial, idleMs, keepAlive, tls, denied }: TransportSettings): Dispatching {
    const { address } = this;
    return new ProxiedPool({ address, proxy, connectMs: dial.timeoutMs, idleMs, keepAlive, tls: tls(), denied });
  }
}
