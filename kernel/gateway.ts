import type { InjectOptions, Response } from 'light-my-request';
import type { ConfigError, ListenAddress, ServiceConfig } from '#contract';
import type { Applied, Change } from './control/change.ts';
import type { ChangeGuard } from './control/change-guard.ts';
import type { Control } from './control/control.ts';
import type { EventLog } from './control/event-log.ts';
import type { Generations } from './control/generations.ts';
import type { RevisionStore } from './control/revision-store.ts';
import type { Source } from './control/snapshot.ts';
import type { ApplicationLog } from './logging/index.ts';
import type { Registry } from './registry/registry.ts';
import type { Watcher } from './runtime/watch/index.ts';
import type { Crew } from './workers/crew.ts';

/** A gateway: serving as soon as it is made, to `inject`; to the network once it listens. */
export interface Gateway {
  readonly config: ServiceConfig;
  /** Mistakes of the serving configuration that did not refuse it. */
  readonly warnings: readonly ConfigError[];
  /** The revision that serves, its fingerprint, the requests and streams it has in flight, and how many older ones still have requests. */
  readonly status: {
    readonly revision: number;
    readonly hash: string;
    readonly calls: number;
    readonly draining: number;
  };
  /** Changes of configuration: those tried, the one that serves. */
  readonly control: Control;
  readonly generations: Generations;
  /** The history of configurations. */
  readonly revisions: RevisionStore;
  readonly events: EventLog;
  /** Null when this process serves itself. */
  readonly crew: Crew | null;
  /** Null while no files are watched. */
  readonly watcher: Watcher | null;
  readonly guard: ChangeGuard;
  readonly registry: Registry;
  readonly log: ApplicationLog;
  /** True from the moment it was told to close. */
  readonly ending: boolean;
  /** When it was started, in milliseconds since 1970. */
  readonly startedAt: number;
  /** Opens the port. @throws GatewayError LISTEN_FAILED. */
  listen(): Promise<{ host: string; port: number }>;
  /**
   * Applies a change; see `Control.apply`.
   * @throws Refusal with every mistake; the old configuration then serves on, untouched.
   */
  apply(change: Change): Promise<Applied>;
  /**
   * Puts another configuration in the place of the serving one; without one, the source is read again. Requests in flight
   * end on the configuration they began with. Calls wait for one another.
   * @throws ConfigErrors with every mistake; the old configuration then serves on, untouched.
   */
  reload(source?: Source): Promise<Applied>;
  /**
   * From now on a saved change of the configuration's file, or of any file it was built from, is applied; a broken one is
   * told in the log and the old configuration serves on. Needs a source that is a file.
   */
  watch(): Promise<void>;
  /** Requests and streams in flight now, on every configuration and in every process. */
  countInFlight(): Promise<number>;
  /**
   * From now on no connection of a component, in no worker, leads to an address where the gateway itself listens. Resolves
   * when that is so, with what allows it again.
   */
  deny(address: ListenAddress): Promise<() => void>;
  /** Answers a request without a socket. */
  inject(request: InjectOptions | string): Promise<Response>;
  /** Stops accepting, waits for requests in flight as long as the configuration says, and gives everything back. */
  close(): Promise<void>;
}
