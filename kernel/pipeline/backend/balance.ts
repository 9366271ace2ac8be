import type { HostList } from '#contract';

/**
 * Picks hosts in turn from a random start; an entry that is repeated has a larger share. A changed list starts over.
 * @returns a function that returns undefined while the list is empty.
 */
export function balance(list: HostList): () => string | undefined {
  let hosts = list.current;
  if (list.fixed && hosts.length === 1) {
    const only = hosts[0]!;
    return () => only;
  }
  let next = anyOf(hosts);
  return () => {
    const { current } = list;
    if (current !== hosts) {
      hosts = current;
      next = anyOf(hosts);
    } else {
      next = next + 1 < hosts.length ? next + 1 : 0;
    }
    return hosts[next];
  };
}

function anyOf(hosts: readonly string[]): number {
  return Math.floor(Math.random() * hosts.length);
}
