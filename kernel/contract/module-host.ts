import type { Log } from './log.ts';
import type { Meter, MeterAttributes } from './meter.ts';
import type { ModuleContext, ServerRequest } from './module-messages.ts';
import type { ActiveSpan } from './tracer.ts';

/** As `fetch` of the platform; redirects, cache and credentials are the gateway's. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Units of the windows in which a quota is counted, by the calendar in UTC. */
export type QuotaUnit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year';

/** State of one limit of a quota rule. */
export interface Allowance {
  readonly unit: QuotaUnit;
  readonly amount: number;
  /** Never below 0. */
  readonly remaining: number;
}

/** Result of a use of a quota. */
export interface QuotaVerdict {
  readonly allowed: boolean;
  /** Seconds until the next use is allowed, at least 1; null for a use that is allowed. */
  readonly retrySeconds: number | null;
  /** State of each limit, in the order of the rule. */
  readonly allowances: readonly Allowance[];
}

/** Rule of a quota. Every call fails with REDIS_FAILED where the use cannot be counted, and never waits without a limit. */
export interface QuotaRuleClient {
  /** Counts 1 in every window, or in none where one is full. @param caller who uses it, such as an API key. */
  take(caller: string): Promise<QuotaVerdict>;
  /** Counts nothing. */
  look(caller: string): Promise<QuotaVerdict>;
  /** Counts in every window, even in a full one. @param weight at least 0. */
  add(caller: string, weight: number): Promise<QuotaVerdict>;
}

/** Quota that `governance/processors` at the root declares. */
export interface QuotaClient {
  readonly name: string;
  /** @throws ConfigError QUOTA_RULE */
  rule(name: string): QuotaRuleClient;
}

/** Replies of Redis: whole numbers, texts, null for a missing value, and lists of these. */
export type RedisValue = number | string | null | RedisValue[];

/**
 * Connection of `redis` at the root. Every call is one round trip, bounded by the `command_timeout` of the connection; without
 * a connection, or when the server does not respond, it fails with REDIS_FAILED. A call is never sent twice, and a failed one
 * may have been carried out.
 */
export interface RedisClient {
  /** Name in the configuration. */
  readonly name: string;
  get(key: string): Promise<string | null>;
  /** @param options.ttlMs time to live, in milliseconds. Default: no expiry. */
  set(key: string, value: string | number, options?: { readonly ttlMs?: number }): Promise<void>;
  /**
   * Adds to a counter, which begins at 0.
   * @param options.by default 1. @param options.ttlMs time to live after its first use, in milliseconds. Default: no expiry.
   * @returns its new value.
   */
  increment(key: string, options?: { readonly by?: number; readonly ttlMs?: number }): Promise<number>;
  /** @returns whether the key existed. */
  delete(key: string): Promise<boolean>;
  /** Any other command with one key, as in `command('HGETALL', 'users')`. Blocking commands, such as BLPOP, are refused or do not wait. */
  command(name: string, key: string, ...args: readonly (string | number)[]): Promise<RedisValue>;
  /** Runs a Lua script on the server, atomically. At most 64 KiB. @param keys of one slot, in a cluster. */
  eval(source: string, keys: readonly string[], args?: readonly (string | number)[]): Promise<RedisValue>;
}

/** Span of a handler. */
export type ModuleSpan = Omit<ActiveSpan, 'call'>;

/** Begins spans in the trace of a request. */
export interface ModuleTracer {
  /**
   * @param of argument that the handler was called with: its context, or the request of an HTTP server.
   * @param name one of few different names. @param attributes see `ActiveSpan.set`.
   * @throws TypeError for anything else.
   */
  start(of: ModuleContext | ServerRequest, name: string, attributes?: MeterAttributes): ModuleSpan;
}

/** Place of the configuration that a handler is made for. */
export type ModulePlace =
  | { readonly kind: 'service' }
  | { readonly kind: 'endpoint'; readonly method: string; readonly path: string }
  | {
      readonly kind: 'backend';
      readonly method: string;
      readonly path: string;
      readonly backend: { readonly method: string; readonly urlPattern: string };
    };

/** Services of the gateway for a factory, at one place of one configuration. */
export interface ModuleHost {
  /** Log with the prefix `[PLUGIN: name]`. */
  readonly logger: Log;
  /** Makes instruments; without an exporter their measurements are discarded. */
  readonly metrics: Meter;
  /** Calls over HTTP by the gateway's own client: its connections, TLS and proxy. Default timeout without a signal: 30 seconds. */
  readonly fetch: Fetch;
  /** Begins spans in the traces of requests; without an exporter they are discarded. */
  readonly tracer: ModuleTracer;
  /** Connection of `redis` at the root. Must be called in the factory. @throws ConfigError REDIS_CONNECTION */
  redis(name: string): RedisClient;
  /** Quota of `governance/processors` at the root. Must be called in the factory. @throws ConfigError QUOTA_UNKNOWN */
  quota(name: string): QuotaClient;
  /** Environment variables, for values that must not be in a configuration. */
  readonly secrets: { get(name: string): string | undefined };
  readonly gatewayVersion: string;
  readonly place: ModulePlace;
  /** Registers a function that is called after the last request of this configuration; the last one registered is called first. */
  onDispose(dispose: () => void | Promise<void>): void;
}

/** Services for the factory of an HTTP client. */
export interface ClientHost extends ModuleHost {
  /** The gateway's own client for the call in progress, with its cache, credentials, TLS and traces. @throws Error outside of a call. */
  readonly defaultClient: Fetch;
}

/** Services for the factory of an HTTP server. */
export interface ServerHost extends ModuleHost {
  /** Address of the client, after the trusted-proxy rule. @throws Error outside of a request. */
  clientIp(): string;
}
