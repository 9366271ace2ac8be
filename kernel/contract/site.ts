import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DeniedAddresses } from '../net/denied-addresses.ts';
import type { Data, DataObject } from '../values/data.ts';
import type { ClientRequest } from './client-request.ts';
import type { AgentConfig, BackendConfig, EndpointConfig, ServiceConfig } from './config.ts';
import type { Encoding } from './encoding.ts';
import type { ConfigError, ConfigErrorOptions } from './errors.ts';
import type { HeaderBag } from './headers.ts';
import type { HttpOptions } from './http.ts';
import type { Log } from './log.ts';
import type { LogSinks } from './logging.ts';
import type { PipeRequest, Reply } from './message.ts';
import type { Mirror, MirrorOptions } from './mirror.ts';
import type { Pattern, Patterns } from './pattern.ts';
import type { Port } from './port.ts';
import type { Readiness } from './readiness.ts';
import type { Sandbox } from './sandbox.ts';
import type { Step } from './step.ts';
import type { Template } from './template.ts';
import type { TakeToken, TokenPool } from './token-pool.ts';
import type { Upstream } from './upstream.ts';

/** Clock that tests can control. */
export interface Clock {
  /** Time of the monotonic clock, in milliseconds. */
  now(): number;
}

/** Reports events to subscribers, for example of the admin API. Never blocks and never throws. */
export interface Events {
  /** @param type for example `breaker.changed`. @param data plain data that must not change afterwards. */
  emit(type: string, data: object): void;
}

/** An event sink that discards everything. */
export const silentEvents: Events = { emit() {} };

/** Process-wide services of the gateway, requested by name. Values exchanged between plugins use ports. */
export interface Services {
  readonly clock: Clock;
  readonly log: Log;
  /** Destinations of log lines. */
  readonly sinks: LogSinks;
  readonly events: Events;
  /** Regular expressions. Those of a configuration are compiled by `Site.pattern`. */
  readonly patterns: Patterns;
  /** Addresses to which plugins must not connect. */
  readonly denied: DeniedAddresses;
  readonly readiness: Readiness;
  /** Replaces the network in a gateway that is only tested; null in one that serves. */
  readonly sandbox: Sandbox | null;
  /** The running release, for example `1.2.3`. */
  readonly version: string;
}

/**
 * Service fields that a plugin can request. `endpoints` and `extra_config` are for plugins that describe the whole
 * service, because these then depend on all of it.
 */
export type Setting = Exclude<keyof ServiceConfig, '$schema' | 'version'>;

/**
 * Role of the process: `alone` applies changes and serves; an `owner` applies changes for the `worker`s, which serve.
 */
export type Role = 'alone' | 'owner' | 'worker';

/** Work that runs while a configuration is active. @param signal aborted when the configuration is replaced. */
export type Run = (signal: AbortSignal) => void | Promise<void>;

/** Handles requests to a plugin's own port. */
export type PortHandler = (message: IncomingMessage, response: ServerResponse) => void;

/** Address of a plugin's own port. */
export interface PortAddress {
  /** IP address to listen on. Default: all addresses. */
  readonly host?: string;
  readonly port: number;
  /** Time limit for request headers, in milliseconds. Default: 30 seconds. */
  readonly headerTimeoutMs?: number;
}

/** Place at which one plugin uses a handler that another plugin provides. */
export interface HandlerPlace {
  /** Name of the handler, from `Plugin.handlers`. */
  readonly name: string;
  /** Kind of handler, for example `middleware`, used in reports of its faults. */
  readonly kind: string;
  /** JSON pointer of the value that names the handler. */
  readonly pointer: string;
  /** The endpoint in which the component is configured; undefined at the root. */
  readonly endpoint?: EndpointConfig | undefined;
}

/** An open port of a plugin. */
export interface OpenPort {
  /** Listening port; 0 before it is open, and in processes that do not open it. */
  readonly port: number;
}

/**
 * Interface of a plugin to the kernel, for one service, endpoint, backend or agent that configures it. An attachment is
 * reused under later configurations as long as nothing that it has used changes, so use only what is needed.
 */
export interface Site<Config> {
  /** The plugin's validated configuration, with defaults, frozen. */
  readonly config: Config;
  /** JSON pointer of that configuration. */
  readonly pointer: string;
  /**
   * False if no configuration names the component: it is then attached at the root for the values that it offers, see
   * `definePort`.
   */
  readonly isNamed: boolean;
  /** Log whose lines begin with the name of the service, endpoint or backend that configures the component. */
  readonly log: Log;
  readonly role: Role;
  /** A service field, with its default. */
  setting<K extends Setting>(name: K): ServiceConfig[K];
  /**
   * The active configuration that uses the attachment, for describing the served API to clients. Reads are not tracked,
   * so a plugin that depends on it when it is attached must declare that with `learnsFrom`.
   */
  serving(): ServiceConfig;
  /**
   * The encoding with this name, for example `endpoint.output_encoding` or `backend.encoding`. `raw` encodings decode
   * nothing. Undefined for an unknown name.
   */
  encoding(name: string): Encoding | undefined;
  /** Returns a service of the gateway, such as the clock. */
  use<K extends keyof Services>(name: K): Services[K];
  /**
   * The nearest offer: of a component next to this one, otherwise of a component at the surrounding endpoint, otherwise
   * at the service. The port must be listed in `takes` of the plugin.
   */
  take<T>(port: Port<T>): T | undefined;
  /** All values that plugins offer at this level and at the levels around it (backend, endpoint, service), outermost first. */
  takeAll<T>(port: Port<T>): readonly T[];
  /**
   * A value, such as a counter or connection, that outlives this configuration if the next one keeps the same key. It
   * must not contain settings that are not part of its key.
   * @param key complete identity of the state; the plugin's name is added.
   * @param close called when no configuration keeps the value anymore.
   */
  keep<T>(key: Data, open: () => T, close?: (value: T) => void | Promise<void>): T;
  /**
   * A kept value that all workers share, with an operation on it: for limits of the gateway as a whole. In the process
   * that owns the value, `use` is called directly; a worker sends a request to that process and receives a promise.
   * @param key as in `keep`.
   * @param use must be synchronous; runs with the settings of the active configuration of the owning process.
   * @param close as in `keep`, in the owning process.
   */
  share<T, Question extends Data | Uint8Array, Response extends Data | Uint8Array>(
    key: Data,
    open: () => T,
    use: (value: T, question: Question) => Response,
    close?: (value: T) => void | Promise<void>,
  ): (question: Question) => Response | Promise<Response>;
  /**
   * Tokens from a supply that all workers share: for limits that every request needs. A worker takes tokens in batches
   * and returns unused ones after 100 ms, or at the end of its configuration. The pool's limit is never exceeded;
   * during that time, one batch per worker can be unused.
   * @param key as in `keep`.
   */
  lease<T>(key: Data, pool: TokenPool<T>): TakeToken;
  /**
   * A value that outlives this configuration, as with `keep`, and of which every process has a copy: for values that
   * every request reads and that rarely change.
   */
  mirror<T, Change extends Data | Uint8Array>(key: Data, options: MirrorOptions<T, Change>): Mirror<T, Change>;
  /**
   * Content of a file that the configuration names. Read once per configuration for all callers and workers, and
   * watched: a change creates a new configuration.
   * @param path relative to the working directory.
   * @throws file system errors.
   */
  read(path: string): Uint8Array;
  /**
   * Names of the entries of a directory that the configuration names, unordered. Watched like a file.
   * @param path relative to the working directory.
   * @throws file system errors, ENOTDIR for a file.
   */
  list(path: string): readonly string[];
  /** True for a directory, false for any other existing path. Not watched. @throws file system errors. */
  isDirectory(path: string): boolean;
  /**
   * Compiles a regular expression of this plugin's configuration.
   * @param pointer relative pointer of the expression, or of its value if the expression is a key.
   * @throws ConfigError PATTERN_INVALID with position and correction.
   */
  pattern(source: string, pointer: string): Pattern;
  /**
   * Compiles a Go `text/template` template with the Sprig functions, except those that read the environment or the
   * network. Rendering is limited in time and size.
   * @param pointer relative pointer of the template, or of the value that names it.
   * @param name for messages, such as the path of its file. Default: `template`.
   * @throws ConfigError TEMPLATE_INVALID with line and column.
   */
  template(text: string, pointer: string, name?: string): Template;
  /** Work before the configuration is activated, such as loading keys. A failure rejects the configuration. */
  warm(task: (signal: AbortSignal) => Promise<void>): void;
  /**
   * Work that starts when the configuration is activated, never in a dry run: a consumer or a schedule. Exceptions are
   * logged.
   * @param options.in `owner` (default) runs in one process of the gateway, `each` in every serving process.
   * @param options.holdsPort at startup, the gateway opens its port only after the promise returned by `run` has
   * settled; for the owner. Default: false.
   */
  start(run: Run, options?: { readonly in?: 'owner' | 'each'; readonly holdsPort?: boolean }): void;
  /**
   * Opens a port of the plugin, once per gateway, before the configuration is activated; afterwards the handler
   * answers. The port stays open across reloads and returns 503 without an active handler.
   * @throws ConfigError LISTENER_TAKEN if another plugin uses the address.
   */
  listen(address: PortAddress, handler: PortHandler): OpenPort;
  /**
   * Attaches a handler that this plugin provides and a different plugin uses. If this plugin is from a file, `attach`
   * must return in time, and faults of the hooks are attributed to the handler: counted, reported, and skipped or
   * rejected by its policy. A hook throws a `HandlerError` to define the response to the client.
   * @throws exceptions of `attach`; ConfigError PLUGIN_ATTACH.
   */
  contain<Attachment extends object>(place: HandlerPlace, attach: () => Attachment): Attachment;
  /** Adds an entry under `agents` of the health endpoint. @param check returns plain data; called on request. */
  health(name: string, check: () => Data): void;
  /**
   * Registers a cache that can be emptied by name, with `DELETE /v1/caches/NAME` of the admin API. Caches with equal
   * names are emptied together. @param empty called in the process that owns the configuration; must be synchronous.
   */
  cache(name: string, empty: () => void): void;
  /**
   * Offers recorded traffic to `GET /v1/recordings` of the admin API.
   * @param latest returns the latest recordings as a HAR file. Called in the process that owns the configuration; must
   * be synchronous.
   */
  recordings(latest: (count: number) => string): void;
  /** Current health entries of all components. */
  reports(): DataObject;
  /** Called once, after the last call of this configuration has finished, in reverse order of registration. */
  defer(dispose: () => void | Promise<void>): void;
  /**
   * The pipe at a pointer of this configuration, whose schema is made by `pipeSchema`, as a step. Compiled once.
   * @param at relative pointer, for example `/tools/0/workflow`.
   */
  pipe(at: string): Step<PipeRequest>;
  /**
   * The gateway's HTTP client as a step: sends a request to its `origin` and `target` and returns the raw reply. Uses
   * the connections, TLS, proxy and redirect settings of the backend and service, and the signers offered at
   * `httpSigners`, a port that the plugin lists in `takes`.
   */
  http(options?: HttpOptions): Step<PipeRequest>;
  /**
   * Declares a server that the component connects to, for `sluice check --connect`. Not used otherwise. Hosts of the
   * backend that `http` calls are declared already.
   * @param at relative pointer of the value that names it, or the position of a host of the backend.
   */
  connectsTo(upstream: Upstream, at: string | number): void;
  /**
   * Handles a request like one of a client, at the endpoint it matches and with all surrounding components. A call can
   * pass through at most eight endpoints this way; the next is rejected with 508.
   */
  readonly dispatch: Step<ClientRequest>;
  /**
   * Creates an error in this plugin's configuration, to be thrown.
   * @param pointer relative pointer, for example `/0/check_expr`; empty for the whole configuration.
   */
  fault(code: string, pointer: string, message: string, options?: ConfigErrorOptions): ConfigError;
  /** Reports a warning, which does not reject the configuration. */
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

/** A message for an agent's pipe. */
export interface AgentMessage {
  readonly body: Uint8Array;
  /** Request headers that the pipe sees. Default: none. */
  readonly headers?: HeaderBag;
}

export interface AgentSite<Config> extends Site<Config> {
  readonly agent: AgentConfig;
  /**
   * Runs the agent's pipe for one message, with the consumer's timeout. Never throws: failures are in the `errors` of
   * the reply. A message is done if `errors` is empty and the reply is complete or raw.
   * @param signal aborts the run.
   */
  run(message: AgentMessage, signal?: AbortSignal): Promise<Reply>;
}

/** Site of an HTTP client. */
export type HttpSite = Site<never> & Partial<Pick<BackendSite<never>, 'backend'>>;
