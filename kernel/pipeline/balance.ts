/** Picks the next host: each entry in turn from a random start, so a repeated entry has a larger share. */
export function balance(hosts: readonly string[]): () => string {
  if (hosts.length === 1) {
    const only = hosts[0]!;
    return () => only;
  }
  let next = Math.floor(Math.random() * hosts.length);
  return () => {
    next = next + 1 < hosts.length ? next + 1 : 0;
    return hosts[next]!;
  };
}
