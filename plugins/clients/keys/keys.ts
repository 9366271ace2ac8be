import type { Site } from '#contract';
import { Cooldown } from './cooldown.ts';
import type { Jwk } from './jwk.ts';
import { keySource } from './key-aggregator.ts';
import { localKeys } from './key-file.ts';
import type { KeyServer } from './key-server.ts';
import { type IdentifyStrategy, KeySet } from './key-set.ts';
import { KeyStore } from './key-store.ts';
import type { KeyServerConfig } from './schema.ts';

/** Result of a key lookup; null if the key was not found, undefined if no lookup is due. */
export type Found = Jwk | null | undefined;

/** Key source of a validator. */
export interface Keys {
  /** Looks up a key by name. Never fails. */
  find(id: string): Found | Promise<Found>;
  /** Why the last lookup failed, for the log. */
  readonly failure: string | null;
  /** Returns all keys of a key file; empty for a key server. */
  all(): readonly Jwk[];
}

/** Options for naming and caching keys. */
export interface KeysOptions {
  readonly strategy: IdentifyStrategy;
  /** Time for which downloaded keys are cached, in milliseconds; null to download them for every request. */
  readonly maxAgeMs: number | null;
  /** Time for which a name that was not found is not looked up again, in milliseconds; 0 disables the cooldown. */
  readonly cooldownMs: number;
}

/**
 * Opens the keys of a component: of its file, otherwise of its server. Codes: those of `localKeys` and `keyServer`.
 * @returns null if every request is rejected, which `check` has warned about.
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
      return refreshing?.then(
        (wasRequested) => store.fresh(maxAgeMs)?.find(strategy, id) ?? (wasRequested ? null : undefined),
      );
    },
  };
}

/** Downloads the set for each request; requests that arrive during a download share it. */
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

/** Skips lookups of recently missing keys for a while. */
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
