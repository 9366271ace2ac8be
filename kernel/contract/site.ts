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
import type { Pattern, Patterns } from './pattern.ts';
import type { Port } from './port.ts';
import type { Readiness } from './readiness.ts';
import type { Step } from './step.ts';
import type { Template } from './template.ts';
import type { TakeToken, TokenPool } from './token-pool.ts';
import type { Upstream } from './upstream.ts';

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

/** What the gateway itself has for the whole process, asked for by name. What plugins have for one another is at ports. */
export interface Services {
  readonly clock: Clock;
  readonly log: Log;
  /** Where lines of logs go. */
  readonly sinks: LogSinks;
  readonly events: Events;
  /** Regular expressions; those of a configuration are compiled by `Site.pattern`. */
  readonly patterns: Patterns;
  /** What no connection that a plugin makes may lead to. */
  readonly denied: DeniedAddresses;
  readonly readiness: Readiness;
  /** The running release, as in `1.2.3`. */
  readonly version: string;
}

/**
 * A field of the service that a plugin may ask for. `endpoints` and `extra_config` are for what describes the whole: who asks
 * for them depends on all that is served.
 */
export type Setting = Exclude<keyof ServiceConfig, '$schema' | 'version'>;

/**
 * What the process that a plugin is attached in does: `alone` it decides and serves, the `owner` decides for `worker`s
 * that serve.
 */
export type Role = 'alone' | 'owner' | 'worker';

/** Work that goes on while a configuration serves. @param signal aborted when the configuration is aborted. */
export type Run = (signal: AbortSignal) => void | Promise<void>;

/** Answers what comes to a port of a plugin's own. */
export type PortHandler = (message: IncomingMessage, response: ServerResponse) => void;

/** Where a port of a plugin's own is. */
export interface PortAddress {
  /** Default: every address of the machine. */
  readonly host?: string;
  readonly port: number;
  /** Longest time for the head of a request, in milliseconds. Default: 30 seconds. */
  readonly headerTimeoutMs?: number;
}

/** Where a handler stands that a plugin has offered to another one. */
export interface HandlerPlace {
  /** One of `Plugin.handlers`. */
  readonly name: string;
  /** What it is, as in `middleware`: what its faults are reported as those of. */
  readonly kind: string;
  /** JSON pointer of what names it. */
  readonly pointer: string;
  /** Around or in which it stands; undefined for the service. */
  readonly endpoint?: EndpointConfig | undefined;
}

/** A port of a plugin's own. */
export interface OpenPort {
  /** The port clients connect to; 0 before it is open and in a process that does not open it. */
  readonly port: number;
}

/** How a value that every process has a copy of is kept the same everywhere. */
export interface MirrorOptions<T, Change extends Data | Uint8Array> {
  open(): T;
  /** Changes a copy; called in every process, in the same order for changes of one process. */
  apply(value: T, change: Change): void;
  /** A change that makes a fresh value what this one is: sent to a process that starts. */
  snapshot(value: T): Change;
}

/** A value of which every process has a copy. */
export interface Mirror<T, Change> {
  /** The copy of this process. */
  readonly value: T;
  /** Changes every copy; those of other processes a moment later. */
  change(change: Change): void;
}

/**
 * What the kernel hands a plugin for one place its namespace stands in, once for every configuration. A site hands out
 * only what it is asked for: an attachment may go on serving under a later configuration in which nothing of that has
 * changed.
 */
export interface Site<Config> {
  /** The plugin's own configuration: validated, defaults filled in, frozen. */
  readonly config: Config;
  /** JSON pointer of that configuration. */
  readonly pointer: string;
  /** False where no configuration names the component: it stands at the root for what it offers, see `definePort`. */
  readonly isNamed: boolean;
  /** A log with the prefix of this place. */
  readonly log: Log;
  readonly role: Role;
  /** A field of the service, with its default. */
  setting<K extends Setting>(name: K): ServiceConfig[K];
  /**
   * The configuration that it is attached for; once another one serves that goes on with the attachment, that one: for what
   * tells a client what is served. It is not noted that it was asked for: who learns something from it while it attaches says
   * so by `learnsFrom`.
   */
  serving(): ServiceConfig;
  /**
   * What there is of an encoding that the configuration names, as in `endpoint.output_encoding` or `backend.encoding`: with
   * a `raw` one nothing is decoded. Undefined for one that there is not.
   */
  encoding(name: string): Encoding | undefined;
  /** A service of the gateway's. */
  use<K extends keyof Services>(name: K): Services[K];
  /**
   * What was offered nearest: at this place, else at the endpoint around it, else at the service. Its plugin names the
   * port in `takes`.
   */
  take<T>(port: Port<T>): T | undefined;
  /** Everything that was offered at this place and around it, outermost first. */
  takeAll<T>(port: Port<T>): readonly T[];
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
   * @param close as of `keep`, where the value lives.
   */
  share<T, Asked extends Data | Uint8Array, Response extends Data | Uint8Array>(
    key: Data,
    open: () => T,
    use: (value: T, asked: Asked) => Response,
    close?: (value: T) => void | Promise<void>,
  ): (asked: Asked) => Response | Promise<Response>;
  /**
   * Tokens of which there is one supply for all workers: the way to hold a limit that every request asks for. A worker takes
   * them in batches, and releases after a tenth of a second, or at the end of its configuration, what it has not used. There
   * are never more given out than the pool gives; one batch a worker may lie unused for that moment.
   * @param key as of `keep`.
   */
  lease<T>(key: Data, pool: TokenPool<T>): TakeToken;
  /** A kept value of which every process has a copy: for what every request looks at and few change. */
  mirror<T, Change extends Data | Uint8Array>(key: Data, options: MirrorOptions<T, Change>): Mirror<T, Change>;
  /**
   * The bytes of a file that the configuration names. It is read once for a configuration, by all who ask and for all
   * workers, and watched from then on: another content is another configuration.
   * @param path relative to the working directory.
   * @throws the error of the file system.
   */
  read(path: string): Uint8Array;
  /**
   * The names of what is in a directory that the configuration names, in no order; watched as a file is: other names are
   * another configuration.
   * @param path relative to the working directory.
   * @throws the error of the file system, ENOTDIR for a file.
   */
  list(path: string): readonly string[];
  /** True for a directory, false for anything else that is there; not watched. @throws the error of the file system. */
  isDirectory(path: string): boolean;
  /**
   * Compiles a regular expression of this plugin's configuration.
   * @param pointer of the expression, relative to the configuration; of its value when the expression is a key.
   * @throws ConfigError PATTERN_INVALID with the place and what to write instead.
   */
  pattern(source: string, pointer: string): Pattern;
  /**
   * Compiles a template in the language of Go's `text/template`, with the functions of Sprig but for those that read the
   * environment or the network. What a rendering may take is bounded.
   * @param pointer of the template, or of what names it, relative to the configuration.
   * @param name that messages give it, such as the path of its file. Default: `template`.
   * @throws ConfigError TEMPLATE_INVALID with line and column.
   */
  template(text: string, pointer: string, name?: string): Template;
  /** Work to be done before the configuration goes live, such as loading keys; a failure refuses the configuration. */
  warm(task: (signal: AbortSignal) => Promise<void>): void;
  /**
   * Work that begins when the configuration serves, never in a dry run: a consumer, a schedule. What it throws is logged.
   * @param options.in `owner`, the default, for one process of the gateway; `each` for every one that serves.
   * @param options.holdsPort the gateway, when it starts, opens its port once what `run` returns has settled; for one in the
   * owner. Default: false.
   */
  start(run: Run, options?: { readonly in?: 'owner' | 'each'; readonly holdsPort?: boolean }): void;
  /**
   * Opens a port of the plugin's own, once for the gateway, before the configuration goes live; from then on the handler
   * answers. It stays open over reloads; without a handler that serves it answers 503.
   * @throws ConfigError LISTENER_TAKEN when another plugin listens there.
   */
  listen(address: PortAddress, handler: PortHandler): OpenPort;
  /**
   * Attaches a handler that this plugin has offered and another one has taken. Where this one is from a file, `attach` must
   * come back, and faults in the hooks are the handler's: counted, reported and passed over or refused by its policy. A hook
   * throws a `HandlerError` to say what the client is told of a fault.
   * @throws what `attach` throws; ConfigError PLUGIN_ATTACH.
   */
  contain<Attachment extends object>(place: HandlerPlace, attach: () => Attachment): Attachment;
  /** Something that the health endpoint tells under `agents`. @param check plain data, made when somebody asks. */
  health(name: string, check: () => Data): void;
  /**
   * A cache that can be emptied by its name, as over the admin API: `DELETE /v1/caches/NAME`. Those of one name are emptied
   * together. @param empty called in the process that owns the configuration; must not wait.
   */
  cache(name: string, empty: () => void): void;
  /** What all components tell the health endpoint, made now. */
  reports(): DataObject;
  /** Called once when the last call of this configuration has left; in reverse order of registration. */
  defer(dispose: () => void | Promise<void>): void;
  /**
   * The pipe at a pointer of this configuration, an object made by `pipeSchema`, as a step. Compiled once.
   * @param at relative to the configuration, as in `/tools/0/workflow`.
   */
  pipe(at: string): Step<PipeRequest>;
  /**
   * The gateway's HTTP client, as a step that sends a request to its `origin` and `target` and answers with the raw reply:
   * with the connections, TLS, proxy and redirects that the backend and the service say, and signed by what `httpSigners`
   * offer here, a port that its plugin names in `takes`.
   */
  http(options?: HttpOptions): Step<PipeRequest>;
  /**
   * Names a server that the component connects to while it serves, for `sluice check --connect`, which tries whether it can be
   * connected to. Nothing connects to it otherwise. What `http` calls by the hosts of its backend is named already.
   * @param at pointer of what names it, relative to the configuration; of a host of the backend, its position.
   */
  connectsTo(upstream: Upstream, at: string | number): void;
  /**
   * Answers a request as the gateway does for a client, by the endpoint it matches, with everything that stands around
   * that endpoint. One call may go through eight endpoints so; the next is refused with 508.
   */
  readonly dispatch: Step<ClientRequest>;
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

/** What an agent's pipe is run for. */
export interface AgentMessage {
  readonly body: Uint8Array;
  /** Headers of the request that the pipe sees; default none. */
  readonly headers?: HeaderBag;
}

export interface AgentSite<Config> extends Site<Config> {
  readonly agent: AgentConfig;
  /**
   * Runs the agent's pipe for one message, under the consumer's timeout. Never throws: whatever fails is among the
   * `errors` of the reply. A message is done when there are none and the reply is complete, or raw.
   * @param signal gives the run up.
   */
  run(message: AgentMessage, signal?: AbortSignal): Promise<Reply>;
}
