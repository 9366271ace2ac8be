import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { addressFamily, addressMatcher, type RouterOptions } from '#contract';

/**
 * Compiles how the client's address is found: the socket's, unless that is a trusted proxy; then the
 * first address from the right of a proxy header that is no trusted proxy itself.
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
  const isTrusted = addressMatcher(router.trusted_proxies);
  const headers = router.remote_ip_headers.map((name) => name.toLowerCase());
  return (message) => {
    const address = socketAddress(message);
    if (!isIP(address) || !isTrusted(address)) return address;
    for (const name of headers) {
      const value = joined(message.rawHeaders, name);
      const match = value === undefined ? undefined : firstUntrusted(value, isTrusted);
      if (match !== undefined) return match;
    }
    return address;
  };
}

/** Every value of a header, as one list. @param name lower-case. */
function joined(rawHeaders: readonly string[], name: string): string | undefined {
  let list: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.length !== name.length || rawHeaders[at]!.toLowerCase() !== name) continue;
    list = list === undefined ? rawHeaders[at + 1] : `${list},${rawHeaders[at + 1]}`;
  }
  return list;
}

/** Undefined when an item is no address: the header is then worth nothing. */
function firstUntrusted(value: string, isTrusted: (address: string) => boolean): string | undefined {
  const chain = value.split(',').map((item) => item.trim());
  if (!chain.every((item) => addressFamily(item))) return undefined;
  return chain.findLast((item) => !isTrusted(item)) ?? chain[0];
}

/** The address of the other end of the connection; empty when it is lost, or a socket file. */
export function socketAddress(message: IncomingMessage): string {
  // A request whose upload failed has lost its socket.
  const address = (message.socket as typeof message.socket | null)?.remoteAddress ?? '';
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}
