import type { IncomingMessage } from 'node:http';
import { addressFamily, type RouterOptions } from '#contract';
import { peerMatcher } from '../../net/address-range.ts';

/**
 * Compiles the lookup of the client's address: the socket's address, unless that is a trusted proxy; then the rightmost
 * address in a proxy header that is not itself a trusted proxy.
 */
export function compileClientIp(router: RouterOptions): (message: IncomingMessage) => string {
  if (router.app_engine) {
    const inner = compileProxied(router);
    return (message) => {
      const reported = message.headers['x-appengine-remote-addr'];
      return typeof reported === 'string' && addressFamily(reported) ? reported : inner(message);
    };
  }
  return compileProxied(router);
}

function compileProxied(router: RouterOptions): (message: IncomingMessage) => string {
  if (!router.forwarded_by_client_ip || router.trusted_proxies.length === 0) return socketAddress;
  const isTrusted = peerMatcher(router.trusted_proxies);
  const headers = router.remote_ip_headers.map((name) => name.toLowerCase());
  return (message) => {
    const address = socketAddress(message);
    if (!isTrusted(address)) return address;
    for (const name of headers) {
      const value = joined(message.rawHeaders, name);
      const match = value === undefined ? undefined : firstUntrusted(value, isTrusted);
      if (match !== undefined) return match;
    }
    return address;
  };
}

/** Joins all values of a header into one list. @param name in lowercase. */
function joined(rawHeaders: readonly string[], name: string): string | undefined {
  let list: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.length !== name.length || rawHeaders[at]!.toLowerCase() !== name) continue;
    list = list === undefined ? rawHeaders[at + 1] : `${list},${rawHeaders[at + 1]}`;
  }
  return list;
}

/** Returns undefined when an item is not a valid address: the whole header is then ignored. */
function firstUntrusted(value: string, isTrusted: (address: string) => boolean): string | undefined {
  const chain = value.split(',').map((item) => item.trim());
  if (!chain.every((item) => addressFamily(item))) return undefined;
  return chain.findLast((item) => !isTrusted(item)) ?? chain[0];
}

/** Returns the remote address of the connection; empty when the connection is lost or is a Unix socket. */
export function socketAddress(message: Pick<IncomingMessage, 'socket'>): string {
  // The socket is missing after the upload of a request has failed.
  const address = (message.socket as typeof message.socket | null)?.remoteAddress ?? '';
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}
