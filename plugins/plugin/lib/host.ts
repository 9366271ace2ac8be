import {
  type BackendConfig,
  type ConfigError,
  type EndpointConfig,
  type Log,
  type Meter,
  meterOf,
  type Site,
  tracerOf,
} from '#contract';
import { quotas } from '../../services/quotas/port.ts';
import { connectionNamed, redisConnections } from '../../services/redis/port.ts';
import { type QuotaClient, quotaClient } from './host-quota.ts';
import { type RedisClient, redisClient } from './host-redis.ts';
import { type HostTracer, hostTracer } from './host-tracer.ts';
import { type Fetch, serviceFetch } from './service-fetch.ts';

/** Where a handler stands. */
export type HostPlace =
  | { readonly kind: 'service' }
  | { readonly kind: 'endpoint'; readonly method: string; readonly path: string }
  | {
      readonly kind: 'backend';
      readonly method: string;
      readonly path: string;
      readonly backend: { readonly method: string; readonly urlPattern: string };
    };

/** What a factory gets from the gateway, for one place of one configuration. */
export interface Host {
  /** With the prefix `[PLUGIN: name]`. */
  readonly logger: Log;
  /** Makes instruments; those of a gateway that exports nothing count for nobody. */
  readonly metrics: Meter;
  /** Calls over HTTP by the gateway's own client: its connections, TLS and proxy. Without a signal 30 seconds at most. */
  readonly fetch: Fetch;
  /** Begins spans in the traces of requests; those of a gateway that exports none are nobody's. */
  readonly tracer: HostTracer;
  /** A connection of `redis` at the root. To be asked for in the factory. @throws ConfigError REDIS_CONNECTION */
  redis(name: string): RedisClient;
  /** A quota of `governance/processors` at the root. To be asked for in the factory. @throws ConfigError QUOTA_UNKNOWN */
  quota(name: string): QuotaClient;
  /** Values that belong in no configuration: those of the environment. */
  readonly secrets: { get(name: string): string | undefined };
  readonly gatewayVersion: string;
  readonly place: HostPlace;
  /** Calls back once the last request of this configuration has left; what was registered last comes first. */
  onDispose(dispose: () => void | Promise<void>): void;
}

/** A site, with the endpoint and the backend where it has them. */
export type HostSite<Config = unknown> = Site<Config> & {
  readonly endpoint?: EndpointConfig;
  readonly backend?: BackendConfig;
  fault(code: string, pointer: string, message: string, options?: object): ConfigError;
};

/**
 * What a handler of a name gets at a site.
 * @param pointer of the name, relative to the configuration of the site.
 */
export function hostFor(site: HostSite, name: string, pointer: string): Host {
  // Asked for now: a factory may wait before it asks, and then it would depend on them unseen.
  site.take(redisConnections);
  const allQuotas = site.take(quotas);
  const log = site.log.at(`[PLUGIN: ${name}]`);
  let isOver = false;
  site.defer(() => {
    isOver = true;
  });
  return {
    logger: log,
    metrics: meterOf(site) ?? silentMeter,
    fetch: serviceFetch(site),
    tracer: hostTracer(tracerOf(site)),
    redis: (connection) => redisClient(connectionNamed(site, connection, pointer), log),
    quota: (quota) =>
      quotaClient(allQuotas, quota, log, (code, message, hint) => site.fault(code, pointer, message, { hint })),
    secrets: { get: (variable) => process.env[variable] },
    gatewayVersion: site.use('version'),
    place: placeOf(site),
    onDispose(dispose) {
      // A factory that is still at work when its configuration has been given up.
      if (isOver) void dispose();
      else site.defer(dispose);
    },
  };
}

function placeOf({ endpoint, backend }: HostSite): HostPlace {
  if (!endpoint) return { kind: 'service' };
  const { method, endpoint: path } = endpoint;
  if (!backend) return { kind: 'endpoint', method, path };
  return { kind: 'backend', method, path, backend: { method: backend.method, urlPattern: backend.url_pattern } };
}

const silent = { add() {}, record() {} };
const silentMeter: Meter = { counter: () => silent, upDownCounter: () => silent, histogram: () => silent };
