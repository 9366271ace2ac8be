import { adminSchema, type BackendConfig, type EndpointConfig, parseAdminAddress, type ServiceConfig } from '#contract';
import { socketOfHost, socketPath } from '../../net/address-range.ts';
import { joinPointer } from '../../values/pointer.ts';
import type { Report } from '../issues/report.ts';
import { type KnownPlugins, meaningsOf } from '../normalize/known-plugins.ts';
import { type EndpointRule, routeName } from './rule.ts';

/** Paths of the gateway's built-in endpoints, which backends may call. */
const OWN = /^\/__(?:health|ready|debug|echo|stats)(?:\/|$)/;

/**
 * Warns of backends that are the gateway itself, which would call itself until the timeout.
 *
 * Code: a warning, LOOP; reported once for hosts at the root.
 */
export function ownAddress(service: ServiceConfig): EndpointRule {
  const listening = { address: service.listen_ip, port: service.port };
  return hostRule(listening, (report, pointer, host, { url_pattern: path }, route) => {
    if (OWN.test(path)) return false;
    report.warn('LOOP', pointer, `${host} is this gateway itself: ${route} would call it again`, {
      related: ['/port'],
    });
    return true;
  });
}

/**
 * Rejects backends that point to the gateway's own admin port: the port may accept requests from the gateway that it
 * rejects from other clients.
 *
 * Code: ADMIN_BACKEND; reported once for hosts at the root.
 */
export function adminAddress(service: ServiceConfig, known: KnownPlugins): EndpointRule {
  const [reported] = meaningsOf(service.extra_config, 'service', known).flatMap(({ namespace, meaning: { admin } }) =>
    admin ? [{ listen: admin.listen, pointer: joinPointer('/extra_config', namespace) + admin.field }] : [],
  );
  const address = parseAdminAddress(reported?.listen ?? adminSchema.properties.listen.default);
  if (!address || address.kind === 'off') return () => {};
  const isSocket = address.kind === 'unix';
  const listening = isSocket
    ? { address: `unix:${address.path}`, port: 0 }
    : { address: address.host, port: address.port };
  return hostRule(listening, (report, pointer, host, _backend, route) => {
    report.error(
      'ADMIN_BACKEND',
      pointer,
      `${host} is the admin port of this gateway: ${route} would open it to clients`,
      {
        hint: 'if the admin API listens elsewhere or is off, configure its address',
        related: reported ? [reported.pointer] : [],
      },
    );
    return true;
  });
}

/** Reports that a backend calls its own gateway. @returns false if the backend is acceptable after all, so that nothing was reported. */
type ReportLoop = (report: Report, pointer: string, host: string, backend: BackendConfig, route: string) => boolean;

/** Finds backends that lead to an address this process listens on; each host is evaluated once, and each pointer is reported once. */
function hostRule(listening: Listening, notify: ReportLoop): EndpointRule {
  const evaluated = new Map<string, boolean>();
  const reported = new Set<string>();
  const isThere = (host: string): boolean => {
    let isOwn = evaluated.get(host);
    if (isOwn === undefined) {
      isOwn = leadsTo(host, listening);
      evaluated.set(host, isOwn);
    }
    return isOwn;
  };
  return (endpoint, pointer, service, report, _written, known) => {
    endpoint.backend.forEach((backend, index) => {
      const position = backend.host.findIndex(isThere);
      if (position < 0 || !callsHosts(endpoint, backend, known)) return;
      const holder = backend.host === service.host ? '' : `${pointer}/backend/${index}`;
      const place = `${holder}/host/${position}`;
      if (reported.has(place)) return;
      if (notify(report, place, backend.host[position]!, backend, routeName(endpoint))) reported.add(place);
    });
  };
}

/**
 * Whether the hosts of a backend are called: not if a component of the endpoint responds instead of the backends, or a
 * component of the backend has its own address.
 */
function callsHosts(endpoint: EndpointConfig, backend: BackendConfig, known: KnownPlugins): boolean {
  const isAnswered = Object.keys(endpoint.extra_config).some((name) => known.plugin(name)?.answersAlone);
  return !isAnswered && !Object.keys(backend.extra_config).some((name) => known.plugin(name)?.hostless);
}

/** An address that this process listens on: `unix:/path`, or an IP address, which is empty for all addresses of the machine. */
export interface Listening {
  readonly address: string;
  readonly port: number;
}

/** True if the host of a backend, as in `http://name:port` and `unix:///path`, certainly leads to an address that this process listens on. */
function leadsTo(host: string, { address, port }: Listening): boolean {
  const to = socketOfHost(host);
  const path = socketPath(address);
  if (to !== null || path !== null) return to === path;
  const url = URL.parse(host);
  if (!url || (Number(url.port) || (url.protocol === 'https:' ? 443 : 80)) !== port) return false;
  const name = plainName(url.hostname);
  const at = plainName(address);
  if (name === at) return true;
  if (isAny(at)) return isLoopback(name) || isAny(name);
  if (isAny(name) || name === 'localhost') return isLoopback(at);
  return at === 'localhost' && isLoopback(name);
}

/** Canonical spelling of a name or address. */
function plainName(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(name) ?? [];
  if (high !== undefined) return [high, low].flatMap((segment) => bytesOf(Number.parseInt(segment!, 16))).join('.');
  return name.endsWith('.localhost') ? 'localhost' : name;
}

function bytesOf(pair: number): number[] {
  return [pair >> 8, pair & 255];
}

/** True for the unspecified address: connecting to it reaches the local machine. */
function isAny(name: string): boolean {
  return name === '' || name === '0.0.0.0' || name === '::';
}

function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '::1' || name.startsWith('127.');
}
