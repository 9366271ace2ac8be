import {
  type BackendConfig,
  type ConfigError,
  type EndpointConfig,
  type Meter,
  type ModuleHost,
  type ModulePlace,
  meterOf,
  type Site,
  tracerOf,
} from '#contract';
import { connectionNamed, redisConnections } from '../../clients/redis/port.ts';
import { quotas } from '../../shared/ports/quotas.ts';
import { quotaClient } from './host-quota.ts';
import { redisClient } from './host-redis.ts';
import { hostTracer } from './host-tracer.ts';
import { serviceFetch } from './service-fetch.ts';

/** A site, with its endpoint and backend if it has them. */
export type HostSite<Config = unknown> = Site<Config> & {
  readonly endpoint?: EndpointConfig;
  readonly backend?: BackendConfig;
  fault(code: string, pointer: string, message: string, options?: object): ConfigError;
};

/**
 * Creates the host of a handler at a site.
 * @param pointer to the handler's name, relative to the site's configuration.
 */
export function hostFor(site: HostSite, name: string, pointer: string): ModuleHost {
  // The connections are looked up now, because a factory may use them only later, when the dependency would no longer
  // be recorded.
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
      // If the configuration was discarded while the factory was running, the handler is disposed of immediately.
      if (isOver) void dispose();
      else site.defer(dispose);
    },
  };
}

function placeOf({ endpoint, backend }: HostSite): ModulePlace {
  if (!endpoint) return { kind: 'service' };
  const { method, endpoint: path } = endpoint;
  if (!backend) return { kind: 'endpoint', method, path };
  return { kind: 'backend', method, path, backend: { method: backend.method, urlPattern: backend.url_pattern } };
}

const silent = { add() {}, record() {} };
const silentMeter: Meter = { counter: () => silent, upDownCounter: () => silent, histogram: () => silent };
