import type { ConnectionTimes, DeniedAddresses, Sandbox } from '#contract';
import type { TlsClient } from '../../../clients/tls/client-tls.ts';
import { type Connect, connector, type DialSettings, type FreshMark } from './connector.ts';
import { Http1Pool } from './http1/pool.ts';
import { Http2Pool } from './http2-pool.ts';
import { ProxiedPool } from './proxied-pool.ts';
import { environmentProxy, type ProxyEnvironment } from './proxy.ts';
import { type ProxyVersion, proxyHeader } from './proxy-header.ts';
import { SandboxPool } from './sandbox-pool.ts';
import type { Dispatching } from './sending.ts';

/** All settings that affect connections. Backends with equal settings share their connections. */
export interface TransportSettings {
  readonly dial: DialSettings;
  /** Idle timeout of a connection, in milliseconds; 0 for no limit. */
  readonly idleMs: number;
  /** Idle timeout for addresses determined by requests; always limited. */
  readonly passingIdleMs: number;
  /** Maximum number of idle connections per host. */
  readonly maxIdlePerHost: number;
  /** Maximum number of idle connections to all hosts together; 0 for no limit. */
  readonly maxIdle: number;
  /** False to use each connection for one request only. */
  readonly keepAlive: boolean;
  /** Uses HTTP/2 if the backend chooses it over TLS, and for all addresses without TLS. */
  readonly http2: boolean;
  /** Proxy for every call; undefined to use the environment's proxy. */
  readonly proxy: string | undefined;
  readonly environment: ProxyEnvironment;
  /** PROXY protocol with which connections announce their client; undefined for none. */
  readonly proxyProtocol: ProxyVersion | undefined;
  /** Name of the exclusive owner of a single connection; undefined for shared connections without a limit. */
  readonly own: string | undefined;
  /** Returns the TLS client; called at the first encrypted connection. */
  readonly tls: () => TlsClient;
  /** Addresses that must not be connected to. */
  readonly denied: DeniedAddresses;
  /** Responds in place of all addresses; null to connect to them. */
  readonly sandbox: Sandbox | null;
}

/** Connections to one address; with the PROXY protocol, those of one client. */
export class OriginPool implements FreshMark {
  /** The address, and the client that the connections belong to. */
  readonly key: string;
  /** Address such as `http://host:port`. */
  readonly address: string;
  readonly dispatcher: Dispatching;
  readonly proxied: boolean;
  /** Number of running calls. */
  active = 0;
  fresh: ConnectionTimes | null = null;

  /** @param client IP address to announce, or empty; undefined for connections that announce no client. */
  constructor(address: string, settings: TransportSettings, client?: string) {
    this.address = address;
    this.key = poolKey(address, client);
    const proxy =
      client === undefined ? (settings.proxy ?? environmentProxy(settings.environment, address)) : undefined;
    this.proxied = proxy !== undefined;
    const dispatcher = proxy === undefined ? this.#direct(settings, client) : this.#proxied(proxy, settings);
    this.dispatcher = settings.sandbox ? new SandboxPool(settings.sandbox, dispatcher, this) : dispatcher;
  }

  /** Whether no call is running and no connection is open. Always false for connections through a proxy, whose state is unknown. */
  get unused(): boolean {
    const { dispatcher } = this;
    if (this.active > 0) return false;
    return (dispatcher instanceof Http1Pool || dispatcher instanceof Http2Pool) && dispatcher.isUnused;
  }

  #direct(settings: TransportSettings, client: string | undefined): Dispatching {
    const { dial, denied, tls, idleMs, keepAlive, own, http2, proxyProtocol, sandbox } = settings;
    const { address } = this;
    const preamble = client === undefined ? null : proxyHeader(proxyProtocol!, client);
    const http1 = new Http1Pool({
      address,
      connect: permitted(connector(address, dial, denied, tls, this, false, preamble), sandbox),
      idleMs,
      keepAlive,
      maxConnections: own === undefined ? Number.POSITIVE_INFINITY : 1,
    });
    if (!http2) return http1;
    const negotiating = permitted(connector(address, dial, denied, tls, this, true), sandbox);
    return new Http2Pool(address, negotiating, this, http1, idleMs);
  }

  #proxied(proxy: string, { dial, idleMs, keepAlive, tls, denied }: TransportSettings): Dispatching {
    const { address } = this;
    return new ProxiedPool({ address, proxy, connectMs: dial.timeoutMs, idleMs, keepAlive, tls: tls(), denied });
  }
}

/** Opens connections that a sandbox permits for requests only. */
function permitted(connect: Connect, sandbox: Sandbox | null): Connect {
  const dial = sandbox?.dial;
  return dial ? (...given) => dial(() => connect(...given)) : connect;
}

export function poolKey(address: string, client: string | undefined): string {
  return client === undefined ? address : `${address} ${client}`;
}
