const byte = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const group = '[\\da-fA-F]{1,4}';

/** Part of a pattern: an IPv4 address. */
const ip4 = `${byte}(?:\\.${byte}){3}`;

/**
 * Part of a pattern: an IPv6 address without a zone. Eight groups, the last two optionally written as an IPv4 address;
 * or fewer, with `::` for the omitted ones.
 */
const ip6 = `(?:${[
  `(?:${group}:){6}(?:${group}:${group}|${ip4})`,
  `::${groupsUpTo(7)}`,
  ...[1, 2, 3, 4, 5, 6, 7].map((before) => `(?:${group}:){${before - 1}}${group}::${groupsUpTo(7 - before)}`),
].join('|')})`;

function groupsUpTo(count: number): string {
  if (count === 0) return '';
  const mixed = count > 1 ? `|(?:${group}:){0,${count - 2}}${ip4}` : '';
  return `(?:(?:${group}:){0,${count - 1}}${group}${mixed})?`;
}

/** Part of a pattern: a port. */
const port = '(?:6553[0-5]|655[0-2]\\d|65[0-4]\\d\\d|6[0-4]\\d{3}|[0-5]\\d{4}|\\d{1,4})';

/** Part of a pattern: a Unix socket, whose path can have 107 bytes. */
const unix = 'unix:/[^\\0]{1,106}';

/** Pattern of the addresses that a port can be opened on; the empty string means all addresses. */
export const LISTEN_ADDRESS_PATTERN = `^(?:${ip4}|${ip6}(?:%[\\w.-]+)?|${unix})?$`;

/** Pattern of addresses and of ranges in CIDR notation. */
export const ADDRESS_RANGE_PATTERN = `^(?:${ip4}(?:/(?:3[0-2]|[12]?\\d))?|${ip6}(?:/(?:12[0-8]|1[01]\\d|[1-9]?\\d))?)$`;

/** Pattern of peers that are trusted to announce clients: addresses, ranges, and `unix:` for Unix sockets. */
export const TRUSTED_PEER_PATTERN = `^unix:$|${ADDRESS_RANGE_PATTERN}`;

/** Pattern of the admin port's address: `host:port`, `[::1]:port`, `:port`, `unix:/path` or `off`. */
export const ADMIN_ADDRESS_PATTERN = `^(?:off|unix:/[\\s\\S]*|(?:\\[${ip6}\\]|[\\w.-]*):${port})$`;

/** Part of a pattern: a host with its port. The host is a name, an IPv4 address or an IPv6 address in brackets. */
export const HOST_AND_PORT = `(?:${ip4}|\\[${ip6}\\]|(?:[\\w-]+\\.)*[\\w-]*[a-zA-Z_-][\\w-]*\\.?):${port}`;
