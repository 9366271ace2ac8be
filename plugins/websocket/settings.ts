import type { BackendConfig, BackendSite, EndpointSite, PipeRequest } from '#contract';
import { prepareSharedTls, standardTls, type TlsClient } from '../clients/tls/client-tls.ts';
import type { DialSettings, DialTarget } from './dial.ts';
import type { PeerLimits } from './peer.ts';
import type { WebsocketConfig } from './schema.ts';

const DEFAULT_KEEP_ALIVE_MS = 15_000;
/** Share of the endpoint's timeout for the handshake with its backend; the rest is reserved for reporting a failure. */
const HANDSHAKE_SHARE = 0.9;
const SHORTEST_TIMEOUT_MS = 60_000;

/** @throws ConfigError WEBSOCKET_BACKENDS, WEBSOCKET_DURATION, WEBSOCKET_PONG_WAIT. */
export function checkConfig(site: EndpointSite<WebsocketConfig>): void {
  const { config, endpoint } = site;
  for (const field of ['write_wait', 'ping_period', 'pong_wait', 'timeout'] as const) {
    if (config[field] <= 0) throw site.fault('WEBSOCKET_DURATION', `/${field}`, `${field} must be greater than 0`);
  }
  if (config.pong_wait <= config.ping_period) {
    throw site.fault('WEBSOCKET_PONG_WAIT', '/pong_wait', 'pong_wait must be longer than ping_period', {
      hint: 'a client may send nothing until it receives a ping',
    });
  }
  if (endpoint.backend.length > 1) {
    throw site.fault(
      'WEBSOCKET_BACKENDS',
      '',
      `a WebSocket must have exactly one backend, but ${endpoint.endpoint} has ${endpoint.backend.length}`,
    );
  }
}

/** Warns of settings without effect in the configured mode. Code: a warning, WEBSOCKET_UNUSED. */
export function warnOfUnused(site: EndpointSite<WebsocketConfig>): void {
  const { config } = site;
  const warn = (field: string, reason: string, hint?: string) =>
    site.warn('WEBSOCKET_UNUSED', `/${field}`, `${field} has no effect: ${reason}`, { hint });
  if (config.enable_direct_communication) {
    for (const field of ['connect_event', 'disconnect_event'] as const) {
      if (config[field])
        warn(field, 'with one backend connection per client, the backend knows when clients connect and disconnect');
    }
  } else if (config.input_headers.length > 0) {
    const hint = 'set "enable_direct_communication": true to open a connection with these headers for each client';
    warn('input_headers', 'the shared connection is opened without client headers', hint);
  }
}

/** Checks the hosts of the backend. Code: WEBSOCKET_HOST. */
export function checkHosts(site: BackendSite<unknown>, isShared: boolean): void {
  const { host, sd, disable_host_sanitize: isRaw } = site.backend;
  const variable = isShared ? host.findIndex((text) => text.includes('{')) : -1;
  if (variable >= 0) {
    throw site.fault(
      'WEBSOCKET_HOST',
      `/host/${variable}`,
      'all clients share one connection, whose host cannot depend on the request',
    );
  }
  // Hosts that are not sanitized are checked elsewhere.
  if (sd !== 'static' || isRaw || host.length === 0) return;
  throw site.fault('WEBSOCKET_HOST', '/host', 'the hosts of a WebSocket must begin with ws:// or wss://', {
    hint: 'set "disable_host_sanitize": true to use the hosts as written',
  });
}

/**
 * Clients and a shared backend receive pings. A backend with one connection per client may be silent for any time; only
 * its responses are limited by `timeout`.
 */
export function limitsOf(
  config: WebsocketConfig,
): Readonly<Record<'client' | 'directBackend' | 'sharedBackend', PeerLimits>> {
  const writeMs = config.write_wait;
  const pinged = { writeMs, silenceMs: config.pong_wait, pingMs: config.ping_period };
  const silenceMs = Math.max(config.timeout, SHORTEST_TIMEOUT_MS);
  return { client: pinged, sharedBackend: pinged, directBackend: { writeMs, silenceMs, pingMs: 0 } };
}

/** Registers the hosts for the connection test. @throws ConfigError for unusable TLS settings. */
export function nameHosts(site: BackendSite<unknown>): void {
  const tls = tlsOf(site);
  if (site.backend.sd !== 'static') return;
  for (const [index, host] of site.backend.host.entries()) {
    if (!host.includes('{')) site.connectsTo({ address: host, tls: /^wss:/i.test(host) ? tls : null }, index);
  }
}

/** @throws ConfigError for unusable TLS settings. */
function tlsOf(site: EndpointSite<unknown>): () => TlsClient {
  const shared = site.setting('client_tls');
  const tls = shared ? prepareSharedTls(site, shared).client : null;
  return () => tls ?? standardTls();
}

/** @throws ConfigError for unusable TLS settings. */
export function dialSettings(site: EndpointSite<WebsocketConfig>): DialSettings {
  const { setting } = site;
  return {
    connectMs: setting('dialer_timeout'),
    keepAliveMs: setting('dialer_keep_alive') || DEFAULT_KEEP_ALIVE_MS,
    handshakeMs: HANDSHAKE_SHARE * site.endpoint.timeout,
    maxBytes: site.config.max_message_size,
    denied: site.use('denied'),
    tls: tlsOf(site),
  };
}

/** Address and handshake request of the backend for a client. */
export function targetOf(request: PipeRequest, subprotocols: readonly string[]): DialTarget {
  const { origin, target, host, headers } = request;
  return { origin, target, host, headers, subprotocols };
}

/** Moves a target to another address of the backend. The path of the other address replaces that of the first one. */
export function atHost(
  target: DialTarget,
  { host: hosts }: Pick<BackendConfig, 'host'>,
  next: string | undefined,
): DialTarget {
  // A target that contains values of the request remains unchanged.
  if (next === undefined || next.includes('{')) return target;
  const bases = hosts.filter((host) => host.startsWith(`${target.origin}/`)).map((host) => splitHost(host).base);
  const base = bases.find((path) => target.target.startsWith(`${path}/`)) ?? '';
  return addressed(target, next, target.target.slice(base.length));
}

/** @param path appended to the host's path. */
export function addressed(target: Omit<DialTarget, 'origin' | 'target'>, host: string, path: string): DialTarget {
  const { origin, base } = splitHost(host);
  return { ...target, origin, target: base + path };
}

function splitHost(host: string): { origin: string; base: string } {
  const slash = host.indexOf('/', host.indexOf('://') + 3);
  return slash < 0
    ? { origin: host, base: '' }
    : { origin: host.slice(0, slash), base: host.slice(slash).replace(/\/$/, '') };
}
