import { addressFamily, type ClientRequest, paramKey } from '#contract';

export const strategies = ['ip', 'header', 'param'] as const;

/** Strategy to distinguish clients. */
export type Strategy = (typeof strategies)[number];

/** Identifies the client of a request; empty if it cannot be identified. */
export type Identify = (request: ClientRequest) => string;

/** Prefix length of the network assigned to one IPv6 client, which may use any address in it. */
export const IPV6_PREFIX = 64;

/**
 * @param key name of the header or of the path variable; for `ip` an optional header that contains the address.
 * @param ipv6Prefix for `ip`: IPv6 addresses that share this many leading bits are one client.
 */
export function identifyBy(strategy: Strategy, key: string, ipv6Prefix = IPV6_PREFIX): Identify {
  const header = key.toLowerCase();
  if (strategy === 'header') return (request) => request.headers.get(header) ?? '';
  if (strategy === 'param') {
    const name = paramKey(key);
    return ({ params }) => (Object.hasOwn(params, name) ? params[name]! : '');
  }
  if (key === '') return (request) => networkOf(request.ip, ipv6Prefix);
  return (request) => networkOf(firstAddress(request.headers.get(header)) || request.ip, ipv6Prefix);
}

/** The network of an IPv6 address, as hexadecimal groups that each end in one colon; an IPv4 address is returned unchanged. */
export function networkOf(address: string, bits: number): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const zone = address.indexOf('%');
  const [head = '', tail] = (zone < 0 ? address : address.slice(0, zone)).split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail ? tail.split(':') : [];
  let network = '';
  for (let group = 0; group * 16 < bits; group++) {
    const written = first[group] ?? last[group - 8 + last.length] ?? '0';
    const mask = (0xffff << Math.max(0, (group + 1) * 16 - bits)) & 0xffff;
    network += `${(Number.parseInt(written, 16) & mask).toString(16)}:`;
  }
  return network;
}

/** The first address of a comma-separated list, without port and brackets; empty if it is not a valid address. */
export function firstAddress(list: string | undefined): string {
  if (!list) return '';
  const comma = list.indexOf(',');
  const text = (comma < 0 ? list : list.slice(0, comma)).trim();
  if (text.startsWith('[')) {
    const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? '';
    return addressFamily(bracketed) === 6 ? bracketed : '';
  }
  if (addressFamily(text)) return text;
  const address = /^([\d.]+):\d+$/.exec(text)?.[1] ?? '';
  return addressFamily(address) ? address : '';
}
