import type { InjectOptions, Response } from 'light-my-request';
import type { AdminSettings, DataObject, ListenAddress, LogLevel } from '#contract';
import type { Containment } from '../containment/containment.ts';
import type { InternalErrors } from '../containment/internal-errors.ts';
import type { Attempts } from '../control/attempts.ts';
import type { Applied, Change, Current } from '../control/change.ts';
import type { EventLog } from '../control/event-log.ts';
import type { GuardState } from '../control/guard.ts';
import type { Participant } from '../control/participant.ts';
import type { RevisionStore } from '../control/revision-store.ts';
import type { SecretsState } from '../control/secrets/secret-keeper.ts';
import type { Snapshot, Source } from '../control/snapshot.ts';
import type { Components } from '../inspect/components.ts';
import type { Served } from '../inspect/served.ts';
import type { ApplicationLog, JoinedLogging } from '../logging/index.ts';
import type { Examined, Reach } from '../runtime/build/build.ts';
import type { Watcher } from '../runtime/watch/index.ts';
import type { ConfigStore } from '../sources/mirror.ts';
import type { Gateway } from './gateway.ts';
import type { Complete } from './inject.ts';
import type { RehearsalSettings } from './own-program.ts';
import type { ServingProcesses } from './serving-processes.ts';

/** A gateway with the operations that its admin port and its command need. */
export interface Operations extends Gateway {
  /** Start time, in milliseconds since 1970. */
  readonly startedAt: number;
  /** True once the gateway has begun to close. */
  readonly ending: boolean;
  readonly log: ApplicationLog;
  readonly events: EventLog;
  readonly serving: ServingConfiguration;
  readonly rehearsals: RehearsalSettings;
  /** Source of the active configuration, which the next reload reads again. */
  readonly source: Source;
  /** Store that the configuration file is copied from; null if it is not a copy. */
  readonly store: ConfigStore | null;
  /** The last configuration changes, including failed ones. */
  readonly attempts: Pick<Attempts, 'list' | 'get' | 'endedBy'>;
  /** The history of configurations. */
  readonly revisions: RevisionStore;
  /** State of the active guard or of the last one; null before the first. */
  readonly guard: GuardState | null;
  /** State of the secrets from stores. */
  readonly secrets: SecretsState;
  /** The watcher of the configuration files; null while no files are watched. */
  readonly watcher: Watcher | null;
  readonly components: Components;
  readonly processes: ServingProcesses;
  /**
   * Applies a change of the configuration. If the configuration is read again, its store is read first.
   * @throws Refusal with every error; the old configuration then continues to serve, untouched.
   */
  apply(change: Change): Promise<Applied>;
  /**
   * Examines a configuration without applying it.
   * @param asStarted whether to apply the command-line options that override every configuration.
   * @throws Refusal with every error.
   */
  examine(snapshot: Snapshot, reach: Reach, asStarted?: boolean): Promise<Examined>;
  /** True when the configuration on disk differs from the serving one. */
  hasDrifted(): Promise<boolean>;
  /** Adds a participant to all later changes. @returns a function that removes it. */
  join(participant: Participant): () => void;
  /** Empties all caches with a name, in every process. @returns false if no component has a cache with that name. */
  emptyCache(name: string): boolean;
  /** Handles a request like `Gateway.inject`. @param complete changes its messages before it is handled. */
  inject(request: InjectOptions | string, complete?: Complete): Promise<Response>;
  /** The latest recorded requests as a HAR file; null if no component records traffic. */
  recordings(count: number): string | null;
  /** Faults of plugins from files, and the suspended ones, across all processes; may be slightly stale. */
  readonly containment: Pick<Containment, 'records' | 'lift'>;
  /** Uncaught errors in the gateway's own code. */
  readonly internalErrors: Pick<InternalErrors, 'counts' | 'own' | 'watch' | 'onTooMany'>;
  /** Describes the served API in OpenAPI 3.1. @param audience default: everyone. @throws Error if no component can describe it. */
  describe(audience?: string): Promise<DataObject>;
  /** Names of the caches that can be emptied. */
  readonly caches: readonly string[];
  /** Sets the lowest level that every process logs, until its next configuration; null restores the configured level. */
  setLogLevel(level: LogLevel | null): void;
  /**
   * Prevents components, in all workers, from connecting to an address on which the gateway itself listens. Resolves
   * when this is in effect, with a function that allows the address again.
   */
  deny(address: ListenAddress): Promise<() => void>;
}

/** The serving configuration, and how it was requested. */
export interface ServingConfiguration extends Served, Pick<Current, 'snapshot' | 'trigger' | 'secrets'> {
  /** The configuration file: its text as last loaded or written; null before that. */
  readonly file: { text: string | null };
  /** Admin port settings of the configuration; undefined if it has none. */
  readonly admin: AdminSettings | undefined;
  readonly logging: JoinedLogging;
}
