import { createHash } from 'node:crypto';
import {
  type BackendSite,
  clientTlsSchema,
  connectionObservers,
  type HttpOptions,
  httpSigners,
  type Infer,
  type Schema,
  type Site,
} from '#contract';
import { type PreparedTls, prepareSharedTls, prepareTls, standardTls } from '../../../clients/tls/client-tls.ts';
import type { HttpClient } from './http-client.ts';
import type { TransportSettings } from './origin-pool.ts';
import {
  environmentProxy,
  isProxyAddress,
  PROXY_ADDRESS_PATTERN,
  type ProxyEnvironment,
  proxyEnvironment,
} from './proxy.ts';
import { isSocketAddress } from './socket-address.ts';
import { Transport } from './transport.ts';

export const httpClientSchema = {
  type: 'object',
  title: 'HTTP client',
  examples: [{ no_redirect: true, proxy_address: 'http://proxy.example.com:3128' }],
  properties: {
    client_tls: {
      ...clientTlsSchema,
      description: "TLS settings for this backend, replacing the service's client_tls.",
    },
    http2: {
      type: 'boolean',
      description:
        'Uses HTTP/2: negotiated over TLS, with HTTP/1.1 as the fallback; without TLS the backend must support h2c. Not supported through proxies. Not available in KrakenD.',
      default: false,
    },
    hide_client: {
      type: 'boolean',
      description:
        'Client privacy: removes the headers that identify the client to this backend: X-Forwarded-Client-Cert, X-Forwarded-For, X-Forwarded-Host, X-Forwarded-Port, X-Forwarded-Proto, X-Real-IP and Forwarded. Useful for backends of third parties.',
      default: false,
    },
    no_redirect: {
      type: 'boolean',
      description: 'Returns redirects to the caller instead of following them.',
      default: false,
    },
    proxy_protocol: {
      type: 'string',
      enum: ['v1', 'v2'],
      description:
        "PROXY protocol version with which each connection announces the IP address of the client to the backend, before TLS. Each client has connections of its own; the port of the client is sent as 0. Connections are direct: the environment's proxy settings do not apply. Cannot be combined with http2, proxy_address or hide_client. Default: no header.",
      examples: ['v2'],
    },
    proxy_address: {
      type: 'string',
      published: { pattern: PROXY_ADDRESS_PATTERN },
      description:
        'Proxy for all calls of this backend: an http, https or socks5 URL with a port. Default: the proxy settings of the environment.',
      examples: ['http://proxy.example.com:3128'],
      secret: true,
    },
    send_body_on_redirect: {
      type: 'boolean',
      description:
        'Resends the request body when a 307 or 308 redirect is followed. The body is kept in memory for this.',
      default: false,
    },
  },
} as const satisfies Schema;

export type HttpClientConfig = Infer<typeof httpClientSchema>;

/** Site of an HTTP client. Without a backend, its requests can use any address. */
type ClientSite = Site<HttpClientConfig> & Partial<Pick<BackendSite<HttpClientConfig>, 'backend'>>;

const DEFAULT_KEEP_ALIVE_MS = 15_000;
const DEFAULT_FALLBACK_MS = 300;
/** Default dial timeout. It ends connection attempts whose requests have already timed out. */
const DEFAULT_DIAL_MS = 20_000;
const DEFAULT_MAX_IDLE_PER_HOST = 250;
const MAX_PASSING_IDLE_MS = 60_000;

/**
 * Creates the client of a backend. Backends with equal settings share connections.
 * @throws ConfigError `HTTP_PROXY_ADDRESS`, and errors for unusable TLS settings.
 */
export function httpClient(site: ClientSite, options: HttpOptions = {}): HttpClient {
  const { config, setting } = site;
  const { tls, followsRedirects } = options;
  if (config.proxy_address !== undefined && !isProxyAddress(config.proxy_address)) {
    throw site.fault('HTTP_PROXY_ADDRESS', '/proxy_address', 'proxy_address is not a URL with scheme, host and port', {
      hint: 'write it as http://host:port, https://host:port or socks5://host:port',
    });
  }
  checkSockets(site);
  if (config.http2) checkHttp2(site);
  if (config.proxy_protocol) checkProxyProtocol(site);
  const signers = site.takeAll(httpSigners);
  const observers = site.takeAll(connectionObservers);
  const prepared = tls ? prepareTls(site, tls.settings, tls.at, tls.pins) : tlsOf(site);
  nameUpstreams(site, options, prepared);
  return {
    transport: transport(site, prepared, options.ownConnection),
    followsRedirects: followsRedirects ?? !config.no_redirect,
    resendsBody: config.send_body_on_redirect,
    announcesClient: config.proxy_protocol !== undefined,
    hidesClient: config.hide_client,
    buffersBody: config.send_body_on_redirect || signers.some(({ readsBody }) => readsBody),
    signers: signers.length > 0 ? signers : null,
    observers: observers.length > 0 ? observers : null,
    asksGzip: !setting('disable_compression'),
    headerTimeoutMs: setting('response_header_timeout'),
    sockets: new Set(site.backend?.host.filter((host) => isSocketAddress(host) && !host.includes('{'))),
    isPassing: isPassing(site),
  };
}

let environment: ProxyEnvironment | null = null;

/** Reads the proxy environment, at most once per turn of the event loop: a thousand backends may be attached in one turn. */
function environmentNow(): ProxyEnvironment {
  if (environment) return environment;
  queueMicrotask(() => {
    environment = null;
  });
  environment = proxyEnvironment(process.env);
  return environment;
}

/** Registers the servers that the backend calls, whatever a request contains. A proxy is registered in place of the servers behind it. */
function nameUpstreams(site: ClientSite, { calls }: HttpOptions, tls: PreparedTls | null): void {
  const environment = environmentNow();
  const { proxy_protocol: announced } = site.config;
  const name = (address: string, at: string | number): void => {
    const proxy = announced ? undefined : (site.config.proxy_address ?? environmentProxy(environment, address));
    const to = proxy ?? address;
    site.connectsTo(
      {
        address: to,
        // TLS is not tested, because the server expects the PROXY protocol header before a handshake.
        tls: /^https:/i.test(to) && !announced ? () => tls?.client ?? standardTls() : null,
        ...(proxy !== undefined && { role: 'proxy' }),
      },
      at,
    );
  };
  for (const { address, at } of calls ?? []) name(address, at);
  if (calls || !site.backend) return;
  for (const [index, host] of site.backend.host.entries()) if (/^(?:https?|unix):[^{]+$/i.test(host)) name(host, index);
}

function checkHttp2({ config, setting, fault }: ClientSite): void {
  const reason =
    config.proxy_address !== undefined
      ? 'a proxy is called with HTTP/1.1'
      : setting('disable_keep_alives')
        ? 'disable_keep_alives requires one connection per request, but HTTP/2 shares connections'
        : null;
  if (reason === null) return;
  throw fault('HTTP2_UNUSABLE', '/http2', `http2 cannot be used: ${reason}`, {
    hint: 'remove http2, or the other setting',
  });
}

/** Checks the settings of Unix sockets, which are called with HTTP/1.1, without a proxy and without TLS. */
function checkSockets({ config, backend, fault }: ClientSite): void {
  const host = backend?.host.find(isSocketAddress);
  const other = config.http2 ? 'http2' : config.proxy_address === undefined ? null : 'proxy_address';
  if (host === undefined || other === null) return;
  throw fault('HTTP_SOCKET', `/${other}`, `${other} cannot be combined with the Unix socket ${host}`, {
    hint: `remove ${other}`,
  });
}

/** Checks the settings that contradict `proxy_protocol`: connections of one client cannot be shared, and only the backend itself expects the header. */
function checkProxyProtocol({ config, fault }: ClientSite): void {
  const other = config.http2
    ? 'http2, whose connections are shared by all clients'
    : config.proxy_address !== undefined
      ? 'proxy_address, since the proxy would receive the header'
      : config.hide_client
        ? 'hide_client, since the header contains the address of the client'
        : null;
  if (other === null) return;
  throw fault('PROXY_PROTOCOL_UNUSABLE', '/proxy_protocol', `proxy_protocol cannot be combined with ${other}`, {
    hint: 'remove one of the two settings',
  });
}

/** Whether the address comes from requests: a host contains placeholders, or the site has no backend. */
function isPassing({ backend }: ClientSite): boolean {
  return !backend || backend.host.some((host) => host.includes('{'));
}

function tlsOf(site: ClientSite): PreparedTls | null {
  const { config } = site;
  if (config.client_tls) return prepareTls(site, config.client_tls);
  const shared = site.setting('client_tls');
  return shared ? prepareSharedTls(site, shared) : null;
}

function transport(site: ClientSite, tls: PreparedTls | null, own: string | undefined): Transport {
  const { setting } = site;
  const plain = {
    dial: {
      timeoutMs: setting('dialer_timeout') || DEFAULT_DIAL_MS,
      keepAliveMs: setting('dialer_keep_alive') || DEFAULT_KEEP_ALIVE_MS,
      fallbackDelayMs: setting('dialer_fallback_delay') || DEFAULT_FALLBACK_MS,
    },
    idleMs: setting('idle_connection_timeout'),
    passingIdleMs: Math.min(setting('idle_connection_timeout') || MAX_PASSING_IDLE_MS, MAX_PASSING_IDLE_MS),
    maxIdlePerHost: setting('max_idle_connections_per_host') || DEFAULT_MAX_IDLE_PER_HOST,
    maxIdle: setting('max_idle_connections'),
    keepAlive: !setting('disable_keep_alives'),
    // A connection with one exclusive owner carries one request at a time.
    http2: site.config.http2 && own === undefined,
    proxy: site.config.proxy_address,
    proxyProtocol: site.config.proxy_protocol,
    own,
    environment: proxyOfEnvironment(site),
  };
  const key = hashed(JSON.stringify([plain, tls?.fingerprint ?? null]));
  const settings: TransportSettings = {
    ...plain,
    denied: site.use('denied'),
    sandbox: site.use('sandbox'),
    tls: tls ? () => tls.client : standardTls,
  };
  return site.keep(
    ['transport', key],
    () => new Transport(settings),
    (kept) => kept.close(),
  );
}

/** Cache of hashed settings: thousands of backends share only a few. */
const hashes = new Map<string, string>();
const MAX_HASHES = 100;

/** Hashes the key of shared connections, because keys may be displayed and a proxy address may contain a password. */
function hashed(settings: string): string {
  let hash = hashes.get(settings);
  if (hash === undefined) {
    hash = createHash('sha256').update(settings).digest('base64');
    if (hashes.size >= MAX_HASHES) hashes.clear();
    hashes.set(settings, hash);
  }
  return hash;
}

function proxyOfEnvironment(site: Site<HttpClientConfig>) {
  const environment = environmentNow();
  for (const [name, address] of [
    ['HTTP_PROXY', environment.http],
    ['HTTPS_PROXY', environment.https],
  ] as const) {
    if (address !== '' && !URL.canParse(address)) {
      throw site.fault('HTTP_PROXY_ADDRESS', '', `the environment variable ${name} is not a valid address`);
    }
  }
  return environment;
}
