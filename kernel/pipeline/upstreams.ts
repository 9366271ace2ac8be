import type { Plugin, Upstream } from '#contract';
import { joinPointer } from '../config/index.ts';
import type { Location, NamedHost } from './location.ts';

/** A server that a configuration names, and where. */
export interface NamedUpstream {
  readonly pointer: string;
  readonly upstream: Upstream;
}

/** Where upstreams are noted; null where nobody wants to know them. */
interface Noting {
  readonly upstreams: NamedUpstream[] | null;
}

/** As of `Site.connectsTo`. Hosts of a backend wait until it is known who calls them. */
export function nameUpstream(
  { upstreams }: Noting,
  plugin: Plugin,
  { pointer, hosts }: Location,
  upstream: Upstream,
  at: string | number,
): void {
  if (typeof at === 'number') hosts?.push({ plugin, index: at, upstream });
  else upstreams?.push({ pointer: pointer + at, upstream });
}

/**
 * Names the hosts of a backend.
 * @param protocol the plugin that reaches it in another way than HTTP; undefined for HTTP.
 * @param areCalled false where they are not what is called, as with discovery.
 */
export function nameHosts(
  { upstreams }: Noting,
  named: readonly NamedHost[],
  protocol: Plugin | undefined,
  areCalled: boolean,
  pointer: string,
): void {
  const own = named.filter(({ plugin }) => plugin === protocol);
  // A client of HTTP that stands beside the protocol calls nothing.
  for (const { index, upstream } of own.length > 0 ? own : areCalled ? named : []) {
    upstreams?.push({ pointer: joinPointer(pointer, 'host', index), upstream });
  }
}
