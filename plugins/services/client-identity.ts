import { addressFamily, type ClientRequest, paramKey } from '#contract';

export const strategies = ['ip', 'header', 'param'] as const;

/** How one client is told from another. */
export type Strategy = (typeof strategies)[number];

/** Who sent a request; empty when that cannot be told. */
export type Identify = (request: ClientRequest) => string;

/** @param key name of the header or of the path variable; for `ip` an optional header that carries the address. */
export function identifyBy(strategy: Strategy, key: string): Identify {
  const header = key.toLowerCase();
  if (strategy === 'header') return (request) => request.headers.get(header) ?? '';
  if (strategy === 'param') {
    const name = paramKey(key);
    return ({ params }) => (Object.hasOwn(params, name) ? params[name]! : '');
  }
  if (key === '') return (request) => request.ip;
  return (request) => firstAddress(request.headers.get(header)) || request.ip;
}

/** The first address of a comma-separated list, without port and brackets; empty when it is none. */
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
