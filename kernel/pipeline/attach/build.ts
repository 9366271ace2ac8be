import type {
  ClientRequest,
  ConfigError,
  Data,
  DataObject,
  EndpointConfig,
  Mirror,
  MirrorOptions,
  OpenPort,
  Plugin,
  PortAddress,
  PortHandler,
  Role,
  Run,
  ServiceConfig,
  Services,
  Step,
  TakeToken,
  TokenPool,
} from '#contract';
import type { KnownPlugins } from '../../config/index.ts';
import type { EndpointTraffic } from '../traffic/endpoint-traffic.ts';
import type { CallCounter } from '../traffic/in-flight.ts';
import type { StreamLease } from '../traffic/stream-lease.ts';
import type { Contains } from './guards.ts';
import type { Reads } from './reads.ts';
import type { NamedUpstream } from './upstreams.ts';

/** Requests that processes send to the owner of a shared value. */
export type Question = Data | Uint8Array;

/** Resources and findings of one build of a configuration, collected while plugins are attached. */
export interface Build extends Contains {
  readonly config: ServiceConfig;
  readonly services: Services;
  /** Static declarations of the gateway's plugins. */
  readonly known: KnownPlugins;
  readonly role: Role;
  readonly errors: ConfigError[];
  /**
   * Warnings about the parts that were attached in this build; `noticed` contains the warnings about the configuration
   * as a whole.
   */
  readonly warnings: ConfigError[];
  readonly noticed: ConfigError[];
  /** Upstream servers in the configuration; null when they are not recorded. */
  readonly upstreams: NamedUpstream[] | null;
  readonly warmups: ((signal: AbortSignal) => Promise<void>)[];
  /**
   * Like `Site.keep`, with the name of the owner as an additional argument. The same applies to the following methods.
   */
  keep<T>(owner: string, key: Data, open: () => T, close?: (value: T) => void | Promise<void>): T;
  share<T>(
    owner: string,
    key: Data,
    open: () => T,
    use: (value: T, question: Question) => Question,
    close?: (value: T) => void | Promise<void>,
  ): (question: Question) => Question | Promise<Question>;
  lease<T>(owner: string, key: Data, pool: TokenPool<T>): TakeToken;
  mirror<T, Change extends Question>(owner: string, key: Data, options: MirrorOptions<T, Change>): Mirror<T, Change>;
  listen(owner: string, pointer: string, address: PortAddress, handler: PortHandler): OpenPort;
  start(run: Run, where: 'owner' | 'each', holdsPort: boolean): void;
  health(name: string, check: () => Data): void;
  cache(name: string, empty: () => void): void;
  recordings(latest: (count: number) => string): void;
  readonly reports: () => DataObject;
  /**
   * Reads a file. Can be called as a function without its object. Throws an `UnreadFile` if only the document is
   * examined.
   */
  readonly read: (path: string) => Uint8Array;
  readonly list: (path: string) => readonly string[];
  readonly isDirectory: (path: string) => boolean;
  readonly dispatch: Step<ClientRequest>;
  /** The runtime that serves the configuration; null during the build. */
  readonly calls: CallCounter | null;
  /** The plugin that calls backends over HTTP. */
  readonly defaultProtocol: Plugin;
  /** Configuration values, files and ports that the plugins of this build read. */
  readonly reads: Reads;
  defer(dispose: () => void | Promise<void>): void;
  /** Returns this build for one endpoint: its resources are held for as long as the endpoint has streams. */
  forEndpoint(): { readonly build: Build; readonly hold: StreamLease };
  /** Returns this build for parts shared by several endpoints. */
  forShared(): SharedBuild;
  /** Returns the traffic counters of an endpoint and its backends, kept while any configuration contains it. */
  traffic(endpoint: EndpointConfig, hold: StreamLease): EndpointTraffic;
  /** Whether anything other than resources was registered here, such as a warning or a task. */
  readonly hasRegistered: boolean;
}

/** Parts shared by several endpoints: held until the last of them is released. */
export interface SharedBuild {
  readonly build: Build;
  /** Returns the lease of an endpoint without other resources. */
  lease(): StreamLease;
  /** Called after the last endpoint has been added. */
  release(): Promise<void>;
}
