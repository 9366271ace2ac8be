import { addressFamily, addressMatcher, type ClientRequest, type Site } from '#contract';
import type { IpFilterConfig } from './schema.ts';

/** The address that a request is judged by; empty where there is none. */
export type AddressOf = (request: ClientRequest) => string;

const usualHeaders = ['X-Forwarded-For', 'X-Real-IP', 'X-Appengine-Remote-Addr'];

/**
 * Compiles how the client's address is looked for: in headers where the other end of the connection is a proxy of one's own.
 * Where nothing is said of headers or proxies, the router's rule holds, if it has one. Warning: IP_FILTER_SPOOFABLE.
 */
export function clientAddress(site: Site<unknown>, config: IpFilterConfig, pointer: string): AddressOf {
  const { client_ip_headers: written, trusted_proxies: proxies = [] } = config;
  if (written === undefined && config.trusted_proxies === undefined && site.setting('router').forwarded_by_client_ip) {
    return ({ ip }) => readAddress(ip);
  }
  const headers = (written ?? usualHeaders).map((name) => name.toLowerCase());
  if (headers.length === 0) return peerOf;
  if (proxies.length > 0) return behindProxies(headers, addressMatcher(proxies));
  site.warn('IP_FILTER_SPOOFABLE', pointer, 'any client can claim another address in a header', {
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

/** The nearest address that is no proxy's, of the first header that has one. */
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

/** The other end of the connection. A request that no client has sent has the address that it was made with. */
function peerOf({ raw, ip }: ClientRequest): string {
  return readAddress(raw ? (raw.request.socket?.remoteAddress ?? '') : ip);
}

const withPort = /^(?:\[(?<ip6>[^\]]*)\](?::\d{1,5})?|(?<ip4>[\d.]+):\d{1,5})$/;

/** An address as proxies write it, perhaps with a port, in brackets or with a zone; empty for anything else. */
export function readAddress(text: string): string {
  const trimmed = text.trim();
  const { ip4, ip6 } = withPort.exec(trimmed)?.groups ?? {};
  const bare = (ip4 ?? ip6 ?? trimmed).replace(/%.*$/, '');
  if (addressFamily(bare) === 0) return '';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare);
  return mapped ? mapped[1]! : bare;
}
