import { definePort, type Site } from '#contract';
import { type KeyDocument, type KeyServer, keyServer } from './key-server.ts';
import type { KeyServerConfig } from './schema.ts';

/** The keys of several key servers as one set, served on a port of this machine. */
export interface KeyAggregator {
  readonly port: number;
  /** Identity of the aggregator: equal for the same port and the same key servers. */
  readonly identity: string;
  /** Reads the current set. @throws Error if no key server has responded. */
  read(): Promise<KeyDocument>;
}

export const keyAggregators = definePort<KeyAggregator>('aggregated keys');

const ownHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Source of the set at `jwk_url`. If the address is that of this gateway's own aggregator, reads the set from it
 * without a socket; otherwise from the server. Callers must list `keyAggregators` in their `takes`. Codes and return
 * value: as for `keyServer`.
 */
export function keySource(site: Site<unknown>, written: string, config: KeyServerConfig): KeyServer | null {
  const aggregator = site.take(keyAggregators);
  if (!aggregator || !isAt(aggregator.port, written)) return keyServer(site, written, config);
  return { identity: aggregator.identity, fetch: () => aggregator.read() };
}

function isAt(port: number, written: string): boolean {
  if (!URL.canParse(written)) return false;
  const url = new URL(written);
  return url.protocol === 'http:' && ownHosts.has(url.hostname) && Number(url.port || 80) === port;
}
