import { readFileSync, realpathSync, statSync } from 'node:fs';

/** Where Linux lists the sockets of this machine, one a line: its kind in the fifth column, its path in the last. */
const LISTING = '/proc/net/unix';
const DATAGRAM = '0002';

/**
 * The socket that stands in the way of a connection: the first that is there and takes datagrams only, when no other takes
 * connections. Undefined when there is none, or nothing is known of them.
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
    // A connection that was accepted at a socket has its path, too.
    if (!kinds.has(path) || kind !== DATAGRAM) kinds.set(path, kind);
  }
  return kinds;
}
