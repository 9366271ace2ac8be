import { createContainer } from 'awilix';
import {
  type BackendConfig,
  type BackendSite,
  type ConfigError,
  type Discovery,
  type HostList,
  type Log,
  type Plugin,
  Reply,
  type ServiceConfig,
  type Services,
} from '#contract';
import { DeniedAddresses, silentEvents, silentLog } from '../../kernel/contract/internal.ts';
import { createPatterns } from '../../kernel/patterns/patterns.ts';
import type { Build } from '../../kernel/pipeline/attach/build.ts';
import { Offers } from '../../kernel/pipeline/attach/offers.ts';
import { Reads } from '../../kernel/pipeline/attach/reads.ts';
import { createSite } from '../../kernel/pipeline/attach/site.ts';
import { RefCountedCache } from '../../kernel/runtime/kept/ref-counted-cache.ts';
import { Scope } from '../../kernel/runtime/kept/scope.ts';
import { silentSinks } from '../../kernel/testing/index.ts';

/** A service discovery without a gateway. */
export interface TestDiscovery {
  readonly list: HostList;
  readonly warnings: readonly ConfigError[];
  /** Runs the warm-up before the configuration becomes active. */
  warm(signal?: AbortSignal): Promise<void>;
  /** The same backend in the next configuration, which takes over kept values. */
  reload(): Promise<void>;
  /** @returns the number of resources that are still held; both must be 0. */
  close(): Promise<{ kept: number; deferred: number }>;
}

const backend: BackendConfig = {
  url_pattern: '/',
  method: 'GET',
  host: ['_http._tcp.api.test'],
  sd: 'dns',
  sd_scheme: 'http',
  disable_host_sanitize: true,
  encoding: 'json',
  is_collection: false,
  input_headers: [],
  input_query_strings: [],
  extra_config: {},
};

/** Opens the discovery of a plugin for one backend. @throws ConfigError if the backend is rejected. */
export async function openDiscovery(
  plugin: Plugin,
  fields: Partial<BackendConfig> = {},
  log: Log = silentLog,
): Promise<TestDiscovery> {
  const cache = new RefCountedCache();
  const [discovery] = plugin.discoveries as readonly [Discovery];
  const open = () => {
    const scope = new Scope();
    const holder = cache.lease(scope);
    const warnings: ConfigError[] = [];
    const warmups: ((signal: AbortSignal) => Promise<void>)[] = [];
    const build = {
      config: { dns_cache_ttl: 30_000 } as ServiceConfig,
      services: {
        clock: { now: () => 0 },
        log,
        sinks: silentSinks,
        events: silentEvents,
        patterns: createPatterns(),
        denied: new DeniedAddresses(),
        sandbox: null,
        readiness: { isDraining: false },
        version: '0.0.0',
      } satisfies Services,
      errors: [],
      warnings,
      warmups,
      keep: holder.keep.bind(holder),
      defer: scope.defer.bind(scope),
      reads: new Reads(),
    } as unknown as Build;
    const endpoint = { method: 'GET', endpoint: '/x' } as BackendSite<undefined>['endpoint'];
    const stance = {
      pointer: '',
      log,
      endpoint,
      backend: { ...backend, sd: discovery.name, ...fields },
      index: 0,
      offers: Offers.atRoot(createContainer()),
      compilePipe: () => () => Reply.data({}),
    };
    const list = discovery.open(createSite(build, plugin, undefined, stance) as BackendSite<undefined>);
    return { list, scope, warnings, warmups };
  };
  const rethrow = (error: unknown): never => {
    throw error;
  };
  let now = open();
  return {
    get list() {
      return now.list;
    },
    get warnings() {
      return now.warnings;
    },
    async warm(signal = new AbortController().signal) {
      await Promise.all(now.warmups.map((task) => task(signal)));
    },
    async reload() {
      const { scope } = now;
      now = open();
      await scope.dispose(rethrow);
    },
    async close() {
      await now.scope.dispose(rethrow);
      return { kept: cache.size, deferred: now.scope.size };
    },
  };
}
