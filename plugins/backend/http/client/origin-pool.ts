import { Client, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { type ConnectionTimes, type DeniedAddresses, timerMs } from '#contract';
import type { TlsClient } from '../../../services/client-tls.ts';
import { connector, type DialSettings, type FreshMark } from './connector.ts';
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

/** The connections to one address. */
export class OriginPool implements FreshMark {
  /** As in `http://host:port`. */
  readonly address: string;
  readonly dispatcher: Dispatcher;
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
      this.dispatcher = new Pool(address, { ...this.#options, connections });
    } else {
      this.dispatcher = proxied(proxy, this.#options, settings).compose(refusing(settings.denied, [proxy, address]));
    }
  }

  /** A single new connection, to be closed by the caller; null where connections go through a proxy. */
  once(): Client | null {
    return this.proxied ? null : new Client(this.address, { ...this.#options, pipelining: 0 });
  }

  /** True when no call runs and no connection is open; of those through a proxy nobody can tell. */
  get unused(): boolean {
    return this.active === 0 && this.dispatcher instanceof Pool && this.dispatcher.stats.connected === 0;
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
