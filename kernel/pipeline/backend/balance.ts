import type { HostList } from '#contract';

/**
 * Returns the next host; undefined while the list is empty.
 * @param tried hosts to avoid while the list has others.
 */
export type PickHost = (tried?: readonly string[]) => string | undefined;

/**
 * Picks hosts in turn from a random start; an entry that is repeated has a larger share. If the list changes, counting
 * starts at its beginning.
 */
export function balance(list: HostList): PickHost {
  let hosts = list.current;
  if (list.fixed && hosts.length === 1) {
    const only = hosts[0]!;
    return () => only;
  }
  let next = anyOf(hosts);
  const pick = () => {
    const { current } = list;
    if (current !== hosts) {
      hosts = current;
      next = anyOf(hosts);
    } else {
      next = next + 1 < hosts.length ? next + 1 : 0;
    }
    return hosts[next];
  };
  return (tried) => {
    const host = pick();
    if (tried === undefined || tried.length === 0) return host;
    let other = host;
    for (let turn = 1; turn < hosts.length && tried.includes(other!); turn++) other = pick();
    return tried.includes(other!) ? host : other;
  };
}

function anyOf(hosts: readonly string[]): number {
  return Math.floor(Math.random() * hosts.length);
}
