import type { Plugin, Upstream } from '#contract';
import { joinPointer } from '../../config/index.ts';
import type { Location, NamedHost } from './location.ts';

/** A server named in a configuration, and its location. */
export interface NamedUpstream {
  readonly pointer: string;
  readonly upstream: Upstream;
  /** The plugin that connects to the server. */
  readonly plugin: Plugin;
}

/** List of recorded upstreams; null when they are not recorded. */
interface Noting {
  readonly upstreams: NamedUpstream[] | null;
}

/** Records a server that a plugin connects to. Hosts of a backend are recorded once it is known which plugin calls them. */
export function nameUpstream(
  { upstreams }: Noting,
  plugin: Plugin,
  { pointer, hosts }: Location,
  upstream: Upstream,
  at: string | number,
): void {
  if (typeof at === 'number') hosts?.push({ plugin, index: at, upstream });
  else upstreams?.push({ pointer: pointer + at, upstream, plugin });
}

/**
 * Records the hosts of a backend.
 * @param protocol plugin of a protocol other than HTTP; undefined for HTTP.
 * @param areCalled false when the hosts are not what is called, as with discovery.
 */
export function nameHosts(
  { upstreams }: Noting,
  named: readonly NamedHost[],
  protocol: Plugin | undefined,
  areCalled: boolean,
  pointer: string,
): void {
  const own = named.filter(({ plugin }) => plugin === protocol);
  // An HTTP client of a backend with another protocol does not call the hosts of the backend.
  for (const { index, upstream, plugin } of own.length > 0 ? own : areCalled ? named : []) {
    upstreams?.push({ pointer: joinPointer(pointer, 'host', index), upstream, plugin });
  }
}
