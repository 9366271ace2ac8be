import {
  type BackendConfig,
  type ConfigError,
  type EndpointConfig,
  type Log,
  type Meter,
  meterOf,
  type Site,
} from '#contract';
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
  /** @throws Error this release offers none to modules. */
  redis(name: string): never;
  /** @throws Error this release offers none to modules. */
  quota(name: string): never;
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

/** What a handler of a name gets at a site. */
export function hostFor(site: HostSite, name: string): Host {
  let isOver = false;
  site.defer(() => {
    isOver = true;
  });
  return {
    logger: site.log.at(`[PLUGIN: ${name}]`),
    metrics: meterOf(site) ?? silentMeter,
    fetch: serviceFetch(site),
    redis: () => missing('host.redis', 'redis'),
    quota: () => missing('host.quota', 'governance/quota'),
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

function missing(call: string, component: string): never {
  throw new Error(`${call} needs the component "${component}", which this release does not offer to modules`);
}

function placeOf({ endpoint, backend }: HostSite): HostPlace {
  if (!endpoint) return { kind: 'service' };
  const { method, endpoint: path } = endpoint;
  if (!backend) return { kind: 'endpoint', method, path };
  return { kind: 'backend', method, path, backend: { method: backend.method, urlPattern: backend.url_pattern } };
}

const silent = { add() {}, record() {} };
const silentMeter: Meter = { counter: () => silent, upDownCounter: () => silent, histogram: () => silent };
