import { isIP, isIPv4, isIPv6 } from 'node:net';
import type { DataObject } from '#contract';
import { isHeaderName } from '../../contract/headers.ts';
import { isPeerRange, UNIX_SOCKETS } from '../../net/address-range.ts';
import type { Report } from '../issues/report.ts';
import type { ServiceRule } from './rule.ts';

/**
 * Checks that `listen_ip` is an address without a port, or a Unix socket.
 *
 * Code: LISTEN_ADDRESS.
 */
export const listenAddress: ServiceRule = ({ listen_ip: address }, report) => {
  if (address.startsWith('unix:')) return checkSocket(address, report);
  // Has the same meaning as LISTEN_ADDRESS_PATTERN, which would take longer to compile than the rest of a short
  // configuration takes to check.
  const plain = address.replace(/%[\w.-]+$/, '');
  if (address === '' || isIPv4(address) || (isIPv6(plain) && !plain.includes('%'))) return;
  const [, bare = '', port] = /^\[?([\da-f.:]+?)\]?(:\d+)?$/i.exec(address) ?? [];
  const rest = port === undefined ? 'without brackets' : "the port belongs in 'port'";
  report.error('LISTEN_ADDRESS', '/listen_ip', `invalid ip address ${address}`, {
    hint: isIP(bare) === 0 ? 'an address such as "127.0.0.1"' : `"${bare}": ${rest}`,
  });
};

/**
 * Checks that `socket_mode` is an octal file mode.
 *
 * Code: LISTEN_SOCKET_MODE.
 */
export const socketMode: ServiceRule = ({ socket_mode: mode }, report) => {
  if (/^0?[0-7]{3}$/.test(mode)) return;
  const message = `socket_mode ${JSON.stringify(mode)} is not an octal file mode`;
  report.error('LISTEN_SOCKET_MODE', '/socket_mode', message, { hint: '"0660"' });
};

function checkSocket(address: string, report: Report): void {
  if (/^unix:\/[^\0]{1,106}$/.test(address) && Buffer.byteLength(address) <= LONGEST_SOCKET) return;
  report.error('LISTEN_ADDRESS', '/listen_ip', `invalid Unix socket ${address}`, {
    hint: 'set an absolute path of at most 107 bytes, such as "unix:/run/sluice/gateway.sock"',
  });
}

/**
 * Reports a port next to a Unix socket, and permissions of a socket next to an address. Reads the document as written,
 * without defaults.
 *
 * Code: a warning, LISTEN_UNUSED.
 */
export function unusedListening(document: DataObject, report: Report): void {
  const { listen_ip: address } = document;
  const isSocket = typeof address === 'string' && address.startsWith('unix:');
  const [field, why] = isSocket ? ['port', 'names a Unix socket'] : ['socket_mode', 'does not name a Unix socket'];
  if (!Object.hasOwn(document, field)) return;
  report.warn('LISTEN_UNUSED', `/${field}`, `'${field}' has no effect: listen_ip ${why}`, {
    hint: `remove "${field}"`,
  });
}

/** Maximum length of `unix:` with a path, in bytes: the system stores 107 of the path. */
const LONGEST_SOCKET = 112;

/**
 * Checks the addresses that are trusted to send a PROXY protocol header.
 *
 * Codes: PROXY_PROTOCOL_TRUSTED; a warning PROXY_PROTOCOL_ANYONE.
 */
export const proxyProtocolSenders: ServiceRule = ({ proxy_protocol: config }, report) => {
  config?.trusted.forEach((entry, index) => {
    const at = `/proxy_protocol/trusted/${index}`;
    if (!isPeerRange(entry)) {
      const message = `${JSON.stringify(entry)} is not an address, a range such as "10.0.0.0/8", or "${UNIX_SOCKETS}"`;
      report.error('PROXY_PROTOCOL_TRUSTED', at, message);
    } else if (entry.endsWith('/0')) {
      report.warn('PROXY_PROTOCOL_ANYONE', at, `every address of ${entry} can claim to be any client`, {
        hint: 'list the addresses of your load balancers',
      });
    }
  });
};

const SHORTEST_MS = 1000;

/**
 * Checks that discovered hosts are not looked up too often.
 *
 * Code: DNS_CACHE_TTL.
 */
export const dnsCacheTtl: ServiceRule = ({ dns_cache_ttl: pauseMs }, report) => {
  if (pauseMs >= SHORTEST_MS) return;
  report.error('DNS_CACHE_TTL', '/dns_cache_ttl', `'dns_cache_ttl' must be 1s or more, found ${pauseMs}ms`);
};
/** Headers that the gateway uses for another purpose, which a request ID would overwrite. */
const taken =
  /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|cookie|set-cookie|location|etag|vary|user-agent|authorization|proxy-.+|content-.+|accept.*|x-forwarded-.+|traceparent|tracestate)$/i;
const AT = '/extra_config/router';

/**
 * Checks the settings that determine which proxies and headers are trusted for a client's address.
 *
 * Codes: ROUTER_TRUSTED_PROXY, ROUTER_IP_HEADER, ROUTER_REQUEST_ID; warnings ROUTER_NO_TRUSTED_PROXIES,
 * ROUTER_PROXIES_UNUSED.
 */
export const trustedProxies: ServiceRule = ({ router }, report) => {
  const { trusted_proxies: proxies, forwarded_by_client_ip: isForwarded, remote_ip_headers: headers } = router;
  const { request_id: idHeader } = router;
  proxies.forEach((proxy, index) => {
    if (isPeerRange(proxy)) return;
    const message = `${JSON.stringify(proxy)} is neither an address nor a range such as "10.0.0.0/8"`;
    report.error('ROUTER_TRUSTED_PROXY', `${AT}/trusted_proxies/${index}`, message);
  });
  headers.forEach((header, index) => {
    if (isHeaderName(header)) return;
    const message = `${JSON.stringify(header)} cannot be the name of a header`;
    report.error('ROUTER_IP_HEADER', `${AT}/remote_ip_headers/${index}`, message);
  });
  if (idHeader !== '' && (!isHeaderName(idHeader) || taken.test(idHeader))) {
    const message = `${JSON.stringify(idHeader)} cannot be used as the header for request IDs`;
    report.error('ROUTER_REQUEST_ID', `${AT}/request_id`, message, { hint: 'use "X-Request-Id"' });
  }
  if (isForwarded && proxies.length === 0) {
    const message = 'forwarded_by_client_ip has no effect without trusted_proxies: no proxy is trusted';
    report.warn('ROUTER_NO_TRUSTED_PROXIES', `${AT}/forwarded_by_client_ip`, message);
  } else if (!isForwarded && idHeader === '' && proxies.length > 0) {
    const message = 'trusted_proxies has no effect without forwarded_by_client_ip or request_id';
    report.warn('ROUTER_PROXIES_UNUSED', `${AT}/trusted_proxies`, message);
  }
};
