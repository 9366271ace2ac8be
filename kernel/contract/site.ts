import type { BackendConfig, EndpointConfig, ServiceConfig } from './config.ts';
import type { Data } from './data.ts';
import type { ConfigError, ConfigErrorOptions } from './errors.ts';
import type { Log } from './log.ts';
import type { LogSinks } from './logging.ts';
import type { Pattern, Patterns } from './pattern.ts';

/** Time, so that tests can hold it. */
export interface Clock {
  /** Milliseconds, never going back. */
  now(): number;
}

/** Tells whoever follows the gateway, as over the admin API, what has happened. Never blocks and never throws. */
export interface Events {
  /** @param type as in `breaker.changed`. @param data plain data, never changed once told. */
  emit(type: string, data: object): void;
}

/** Events that nobody follows. */
export const silentEvents: Events = { emit() {} };

/**
 * What is shared by the whole process, asked for by name. A plugin that `provides` a service adds its type here:
 * `declare module '#contract' { interface Services { redis: Redis } }`.
 */
export interface Services {
  readonly clock: Clock;
  readonly log: Log;
  /** Where lines of logs go. */
  readonly sinks: LogSinks;
  readonly events: Events;
  /** Regular expressions; those of a configuration are compiled by `Site.pattern`. */
  readonly patterns: Patterns;
  /** The running release, as in `1.2.3`. */
  readonly version: string;
}

/** What the kernel hands a plugin for one place its namespace stands in, once for every configuration. */
export interface Site<Config> {
  /** The plugin's own configuration: validated, defaults filled in, frozen. */
  readonly config: Config;
  /** JSON pointer of that configuration. */
  readonly pointer: string;
  readonly service: ServiceConfig;
  readonly services: Services;
  /** A log with the prefix of this place. */
  readonly log: Log;
  /**
   * A value that outlives this configuration for as long as the next one keeps the same key: a counter, a connection.
   * It must never hold a limit or any other setting that is not part of its key.
   * @param key whose state it is, all of it and no more; the plugin's name is added.
   * @param close called when no configuration keeps the value any more.
   */
  keep<T>(key: Data, open: () => T, close?: (value: T) => void | Promise<void>): T;
  /**
   * A kept value of which there is one for all workers of the gateway, and what may be done with it: the way to hold a
   * limit for the gateway as a whole. Alone, or in the process that owns the value, `use` is simply called; a worker asks
   * that process and gets a promise.
   * @param key as of `keep`.
   * @param use must not wait; runs with the settings of the configuration that serves where the value lives.
   */
  share<T, Asked extends Data, Answer extends Data>(
    key: Data,
    open: () => T,
    use: (value: T, asked: Asked) => Answer,
  ): (asked: Asked) => Answer | Promise<Answer>;
  /**
   * The bytes of a file that the configuration names. It is read once for a configuration, by all who ask and for all
   * workers, and watched from then on: another content is another configuration.
   * @param path relative to the working directory.
   * @throws the error of the file system.
   */
  read(path: string): Uint8Array;
  /**
   * Compiles a regular expression of this plugin's configuration.
   * @param pointer of the expression, relative to the configuration; of its value when the expression is a key.
   * @throws ConfigError PATTERN_INVALID with the place and what to write instead.
   */
  pattern(source: string, pointer: string): Pattern;
  /** Work to be done before the configuration goes live, such as loading keys; a failure refuses the configuration. */
  warm(task: (signal: AbortSignal) => Promise<void>): void;
  /** Called once when the last call of this configuration has left; in reverse order of registration. */
  defer(dispose: () => void | Promise<void>): void;
  /**
   * A mistake in this plugin's configuration, to be thrown.
   * @param pointer relative to the configuration, as in `/0/check_expr`; empty for the whole.
   */
  fault(code: string, pointer: string, message: string, options?: ConfigErrorOptions): ConfigError;
  /** Something the operator should know that does not refuse the configuration. */
  warn(code: string, pointer: string, message: string, options?: ConfigErrorOptions): void;
}

export interface EndpointSite<Config> extends Site<Config> {
  readonly endpoint: EndpointConfig;
}

export interface BackendSite<Config> extends EndpointSite<Config> {
  readonly backend: BackendConfig;
  /** Position of the backend in its endpoint. */
  readonly index: number;
}
