import { readFileSync, realpathSync, statSync } from 'node:fs';

/** File in which Linux lists the machine's Unix sockets, one per line: the type in the fifth column, the path in the last. */
const LISTING = '/proc/net/unix';
const DATAGRAM = '0002';

/**
 * Returns the path of the socket that prevents a connection: the first existing one that accepts only datagrams, unless
 * another accepts connections. Undefined if no such socket exists or the listing is unavailable.
 */
export function datagramSocket(paths: readonly string[], listing = LISTING): string | undefined {
  const results = paths.filter((path) => statSync(path, { throwIfNoEntry: false })?.isSocket());
  const kinds = kindsOfSockets(listing);
  return results.every((path) => kinds.get(realpathSync(path)) === DATAGRAM) ? results[0] : undefined;
}

function kindsOfSockets(listing: string): ReadonlyMap<string, string> {
  const kinds = new Map<string, string>();
  let text = '';
  try {
    text = readFileSync(listing, 'utf8');
  } catch {}
  for (const line of text.split('\n')) {
    const [, kind = '', path = ''] = /^\S+ \S+ \S+ \S+ (\S+) \S+ +\S+ (.+)$/.exec(line) ?? [];
    // Skips accepted connections, because they are listed with the path of their socket, too.
    if (!kinds.has(path) || kind !== DATAGRAM) kinds.set(path, kind);
  }
  return kinds;
}
