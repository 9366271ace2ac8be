import { definePort, type Site } from '#contract';
import { type KeyDocument, type KeyServer, keyServer } from './key-server.ts';
import type { KeyServerConfig } from './schema.ts';

/** The keys of several key servers as one set, which this machine finds at a port of its own. */
export interface KeyAggregator {
  readonly port: number;
  /** The same for the same port and the same key servers. */
  readonly identity: string;
  /** The set as it is now. @throws Error when no key server has answered. */
  read(): Promise<KeyDocument>;
}

export const keyAggregators = definePort<KeyAggregator>('aggregated keys');

const ownHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Where the set of `jwk_url` is had: of the aggregator of this gateway, when it is its address, without a socket; else of
 * the server. Whoever calls it lists `keyAggregators` in its `takes`. Codes and return value: as of `keyServer`.
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
