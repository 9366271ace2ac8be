import { BlockList, isIP } from 'node:net';
import { ADDRESS_RANGE_PATTERN } from './address-pattern.ts';

/** Returns 4 or 6 for an IP address, and 0 for any other text, including an address with a zone, which has no meaning on another machine. */
export function addressFamily(text: string): 0 | 4 | 6 {
  return text.includes('%') ? 0 : (isIP(text) as 0 | 4 | 6);
}

/** Entry of a list of peers for connections over a Unix socket, which have no address. */
export const UNIX_SOCKETS = 'unix:';

/** Returns the path of an address such as `unix:/run/sluice.sock`; null for any other address. */
export function socketPath(address: string): string | null {
  return address.startsWith('unix:/') ? address.slice(UNIX_SOCKETS.length) : null;
}

const SOCKET_HOST = 'unix://';

/** Returns the path of a backend host such as `unix:///run/app.sock`; null for any other host. */
export function socketOfHost(host: string): string | null {
  return host.startsWith(SOCKET_HOST) ? host.slice(SOCKET_HOST.length) : null;
}

/** True for an address, a range, or `unix:`. */
export function isPeerRange(text: string): boolean {
  return text === UNIX_SOCKETS || isAddressRange(text);
}

/**
 * Compiles a test of the peer address of a connection against ranges. The empty address of a Unix socket matches `unix:`.
 * @param ranges texts that satisfy `isPeerRange`.
 */
export function peerMatcher(ranges: readonly string[]): (address: string) => boolean {
  const isListed = addressMatcher(ranges.filter((range) => range !== UNIX_SOCKETS));
  return ranges.includes(UNIX_SOCKETS) ? (address) => address === '' || isListed(address) : isListed;
}

const addressRange = new RegExp(ADDRESS_RANGE_PATTERN);

/** True for an address, `10.0.0.1`, or a range in CIDR notation, `10.0.0.0/8`. */
export function isAddressRange(text: string): boolean {
  return addressRange.test(text);
}

/**
 * Creates a function that tests whether an address without a zone is in one of the ranges; any other text is not. IPv4
 * addresses written as IPv6 are recognized.
 * @param ranges addresses or ranges that satisfy `isAddressRange`.
 */
export function addressMatcher(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address, bits] = range.split('/') as [string, string?];
    // A colon is searched for instead of calling `isIP`, which compiles a pattern for IPv6 addresses and adds
    // milliseconds to every startup.
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };
}
