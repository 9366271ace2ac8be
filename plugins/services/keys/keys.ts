import type { Site } from '#contract';
import { Cooldown } from './cooldown.ts';
import type { Jwk } from './jwk.ts';
import { keySource } from './key-aggregator.ts';
import { localKeys } from './key-file.ts';
import type { KeyServer } from './key-server.ts';
import { type IdentifyStrategy, KeySet } from './key-set.ts';
import { KeyStore } from './key-store.ts';
import type { KeyServerConfig } from './schema.ts';

/** A key; null when it was looked for and not found, undefined when it is not time to look for it. */
export type Found = Jwk | null | undefined;

/** Where a validator finds keys. */
export interface Keys {
  /** The key of that name. Never fails. */
  find(id: string): Found | Promise<Found>;
  /** Why a key could not be had, for the log. */
  readonly failure: string | null;
  /** The keys of a file; none of a server's. */
  all(): readonly Jwk[];
}

/** How keys are named and kept. */
export interface KeysOptions {
  readonly strategy: IdentifyStrategy;
  /** How long downloaded keys are used, in milliseconds; null to download them for every request. */
  readonly maxAgeMs: number | null;
  /** How long a name that was not found is not looked for again, in milliseconds; 0 for no such time. */
  readonly cooldownMs: number;
}

/**
 * The keys of a component: of its file, else of its server. Codes: those of `localKeys` and `keyServer`.
 * @returns null where every request is refused, of which `check` has warned.
 */
export function openKeys(site: Site<unknown>, config: KeyServerConfig, options: KeysOptions): Keys | null {
  const { strategy, cooldownMs } = options;
  if (config.jwk_local_path !== undefined) {
    const set = localKeys(site, config.jwk_local_path, config);
    return { failure: null, find: (id) => set.find(strategy, id) ?? null, all: () => set.keys };
  }
  const server = keySource(site, config.jwk_url!, config);
  if (!server) return null;
  const keys =
    options.maxAgeMs === null ? uncached(site, server, strategy) : cached(site, server, strategy, options.maxAgeMs);
  if (cooldownMs === 0) return keys;
  const kept = ['cooldown', server.identity, strategy, cooldownMs];
  const clock = site.use('clock');
  const cooldown = site.keep(kept, () => new Cooldown(cooldownMs, () => clock.now()));
  return cooling(keys, cooldown);
}

function cached(site: Site<unknown>, server: KeyServer, strategy: IdentifyStrategy, maxAgeMs: number): Keys {
  const store = new KeyStore(site, server);
  site.start(async () => {
    if (!store.fresh(maxAgeMs)) await store.refresh('stale');
  });
  return {
    all: () => [],
    get failure() {
      return store.failure;
    },
    find(id) {
      const set = store.fresh(maxAgeMs);
      const key = set?.find(strategy, id);
      if (key) return key;
      const refreshing = store.refresh(set ? 'unknown' : 'stale');
      return refreshing?.then((wasAsked) => store.fresh(maxAgeMs)?.find(strategy, id) ?? (wasAsked ? null : undefined));
    },
  };
}

/** One download for each request, and for those that come while it runs. */
function uncached(site: Site<unknown>, server: KeyServer, strategy: IdentifyStrategy): Keys {
  const end = new AbortController();
  site.defer(() => end.abort());
  let failure: string | null = null;
  let last: KeySet | null = null;
  let running: Promise<KeySet | null> | null = null;
  const download = async () => {
    try {
      last = KeySet.parse((await server.fetch(end.signal)).text, last);
      failure = null;
      return last;
    } catch (error) {
      failure = (error as Error).message;
      return null;
    } finally {
      running = null;
    }
  };
  return {
    all: () => [],
    get failure() {
      return failure;
    },
    find(id) {
      running ??= download();
      return running.then((set) => set?.find(strategy, id) ?? null);
    },
  };
}

/** Does not look again for a while for keys that were looked for and not found. */
function cooling(keys: Keys, cooldown: Cooldown): Keys {
  const noted = (id: string, key: Found) => {
    if (key === null) cooldown.add(id);
    return key;
  };
  return {
    all: () => [],
    get failure() {
      return keys.failure;
    },
    find(id) {
      if (cooldown.has(id)) return undefined;
      const key = keys.find(id);
      return key instanceof Promise ? key.then((match) => noted(id, match)) : noted(id, key);
    },
  };
}
