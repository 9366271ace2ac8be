import type { Log } from './log.ts';
import type { Meter, MeterAttributes } from './meter.ts';
import type { ModuleContext, ServerRequest } from './module-messages.ts';
import type { ActiveSpan } from './tracer.ts';

/** Like the standard `fetch`, but redirects, caching and credentials follow the settings of the gateway. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Units of the calendar windows, in UTC, in which a quota is counted. */
export type QuotaUnit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year';

/** State of one limit of a quota rule. */
export interface Allowance {
  readonly unit: QuotaUnit;
  readonly amount: number;
  /** Number of remaining uses in the window, never below 0. */
  readonly remaining: number;
}

/** Outcome of an attempt to use a quota. */
export interface QuotaVerdict {
  readonly allowed: boolean;
  /** Seconds until the next use is allowed, at least 1; null for a use that is allowed. */
  readonly retrySeconds: number | null;
  /** State of each limit, in the order of the rule. */
  readonly allowances: readonly Allowance[];
}

/** One rule of a quota. A call fails with REDIS_FAILED if the use cannot be counted, and has a time limit. */
export interface QuotaRuleClient {
  /** Counts 1 in every window, or in none of them if one is full. @param caller user of the quota, such as an API key. */
  take(caller: string): Promise<QuotaVerdict>;
  /** Returns the state of the limits without counting a use. */
  look(caller: string): Promise<QuotaVerdict>;
  /** Adds a weight in every window, even in a full one. @param weight at least 0. */
  add(caller: string, weight: number): Promise<QuotaVerdict>;
}

/** A quota declared in `governance/processors` at the root. */
export interface QuotaClient {
  readonly name: string;
  /** Returns a rule of the quota. @throws ConfigError QUOTA_RULE if it does not exist. */
  rule(name: string): QuotaRuleClient;
}

/** Replies of Redis: whole numbers, texts, null for a missing value, and lists of these. */
export type RedisValue = number | string | null | RedisValue[];

/**
 * Connection of `redis` at the root. Every call is one round trip, bounded by the `command_timeout` of the connection;
 * without a connection, or when the server does not respond, it fails with REDIS_FAILED. A call is never sent twice;
 * the server may have executed a call that failed.
 */
export interface RedisClient {
  /** Name in the configuration. */
  readonly name: string;
  get(key: string): Promise<string | null>;
  /** @param options.ttlMs time to live, in milliseconds. Default: no expiry. */
  set(key: string, value: string | number, options?: { readonly ttlMs?: number }): Promise<void>;
  /**
   * Adds to a counter, which starts at 0.
   * @param options.by amount to add. Default: 1. @param options.ttlMs time to live after its first use, in
   * milliseconds. Default: no expiry.
   * @returns the new value.
   */
  increment(key: string, options?: { readonly by?: number; readonly ttlMs?: number }): Promise<number>;
  /** Deletes a key. @returns whether the key existed. */
  delete(key: string): Promise<boolean>;
  /**
   * Any other command with one key, as in `command('HGETALL', 'users')`. Blocking commands, such as BLPOP, are rejected
   * or return without waiting.
   */
  command(name: string, key: string, ...args: readonly (string | number)[]): Promise<RedisValue>;
  /**
   * Runs a Lua script on the server, atomically. The script can have 64 KiB. @param keys keys that the script uses; in
   * a cluster, all must be in one hash slot.
   */
  eval(source: string, keys: readonly string[], args?: readonly (string | number)[]): Promise<RedisValue>;
}

/** A span that a handler has started. */
export type ModuleSpan = Omit<ActiveSpan, 'call'>;

/** A tracer that starts spans in the trace of a request. */
export interface ModuleTracer {
  /**
   * @param of argument that the handler was called with: its context, or the request of an HTTP server.
   * @param name one of few different names. @param attributes see `ActiveSpan.set`.
   * @throws TypeError for anything else.
   */
  start(of: ModuleContext | ServerRequest, name: string, attributes?: MeterAttributes): ModuleSpan;
}

/** Place in the configuration for which a handler is created. */
export type ModulePlace =
  | { readonly kind: 'service' }
  | { readonly kind: 'endpoint'; readonly method: string; readonly path: string }
  | {
      readonly kind: 'backend';
      readonly method: string;
      readonly path: string;
      readonly backend: { readonly method: string; readonly urlPattern: string };
    };

/** Services of the gateway for a factory, which creates the handler of one service, endpoint or backend in one configuration. */
export interface ModuleHost {
  /** Log with the prefix `[PLUGIN: name]`. */
  readonly logger: Log;
  /** Creates instruments; without an exporter, their measurements are discarded. */
  readonly metrics: Meter;
  /** Calls over HTTP by the gateway's own client: its connections, TLS and proxy. Default timeout without a signal: 30 seconds. */
  readonly fetch: Fetch;
  /** Starts spans in the traces of requests; without an exporter, they are discarded. */
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
