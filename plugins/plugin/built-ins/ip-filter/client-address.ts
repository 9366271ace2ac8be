import { addressFamily, addressMatcher, type ClientRequest, type Site } from '#contract';
import type { IpFilterConfig } from './schema.ts';

/** Returns the address to filter a request by; empty if unknown. */
export type AddressOf = (request: ClientRequest) => string;

const usualHeaders = ['X-Forwarded-For', 'X-Real-IP', 'X-Appengine-Remote-Addr'];

/**
 * Compiles the lookup of the client's address: in headers if the peer is a trusted proxy. Without settings for headers
 * and proxies, the router's rule applies, if it has one. Warning: IP_FILTER_SPOOFABLE.
 */
export function clientAddress(site: Site<unknown>, config: IpFilterConfig, pointer: string): AddressOf {
  const { client_ip_headers: written, trusted_proxies: proxies = [] } = config;
  if (written === undefined && config.trusted_proxies === undefined && site.setting('router').forwarded_by_client_ip) {
    return ({ ip }) => readAddress(ip);
  }
  const headers = (written ?? usualHeaders).map((name) => name.toLowerCase());
  if (headers.length === 0) return peerOf;
  if (proxies.length > 0) return behindProxies(headers, addressMatcher(proxies));
  site.warn('IP_FILTER_SPOOFABLE', pointer, 'any client can send another address in a header', {
    hint: 'list your own proxies in "trusted_proxies", or use only the connection with "client_ip_headers": []',
  });
  return (request) => {
    for (const name of headers) {
      const leftmost = addressesIn(request, name).find((address) => address !== '');
      if (leftmost !== undefined) return leftmost;
    }
    return peerOf(request);
  };
}

/** Returns the nearest address that is not a proxy's, from the first header that has one. */
function behindProxies(headers: readonly string[], isTrusted: (address: string) => boolean): AddressOf {
  return (request) => {
    const peer = peerOf(request);
    if (!isTrusted(peer)) return peer;
    for (const name of headers) {
      const client = addressesIn(request, name).findLast((address) => address !== '' && !isTrusted(address));
      if (client !== undefined) return client;
    }
    return peer;
  };
}

function addressesIn({ headers }: ClientRequest, name: string): string[] {
  return headers.getAll(name).flatMap((value) => value.split(',').map(readAddress));
}

/** Returns the address of the peer. A request that was not sent by a client has the address it was created with. */
function peerOf({ raw, ip }: ClientRequest): string {
  return readAddress(raw ? (raw.request.socket?.remoteAddress ?? '') : ip);
}

const withPort = /^(?:\[(?<ip6>[^\]]*)\](?::\d{1,5})?|(?<ip4>[\d.]+):\d{1,5})$/;

/** Parses an address as written by proxies, optionally with a port, brackets or a zone; empty for anything else. */
export function readAddress(text: string): string {
  const trimmed = text.trim();
  const { ip4, ip6 } = withPort.exec(trimmed)?.groups ?? {};
  const bare = (ip4 ?? ip6 ?? trimmed).replace(/%.*$/, '');
  if (addressFamily(bare) === 0) return '';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare);
  return mapped ? mapped[1]! : bare;
}
