import type { AdminSettings, DataObject, ListenAddress, LogLevel } from '#contract';
import type { Containment } from '../containment/containment.ts';
import type { InternalErrors } from '../containment/internal-errors.ts';
import type { Attempts } from '../control/attempts.ts';
import type { Applied, Change, Current } from '../control/change.ts';
import type { EventLog } from '../control/event-log.ts';
import type { GuardState } from '../control/guard.ts';
import type { Participant } from '../control/participant.ts';
import type { RevisionStore } from '../control/revision-store.ts';
import type { Snapshot, Source } from '../control/snapshot.ts';
import type { Components } from '../inspect/components.ts';
import type { Served } from '../inspect/served.ts';
import type { ApplicationLog, JoinedLogging } from '../logging/index.ts';
import type { Examined, Reach } from '../runtime/build.ts';
import type { Watcher } from '../runtime/watch/index.ts';
import type { Gateway } from './gateway.ts';
import type { ServingProcesses } from './serving-processes.ts';

/** A gateway with what its admin port and its command work with. */
export interface Operations extends Gateway {
  /** When it was started, in milliseconds since 1970. */
  readonly startedAt: number;
  /** True from the moment it was told to close. */
  readonly ending: boolean;
  readonly log: ApplicationLog;
  readonly events: EventLog;
  readonly serving: ServingConfiguration;
  /** Where the serving configuration came from, and where the next one is read. */
  readonly source: Source;
  /** The last changes of configuration, failed ones too. */
  readonly attempts: Pick<Attempts, 'list' | 'get' | 'endedBy'>;
  /** The history of configurations. */
  readonly revisions: RevisionStore;
  /** The guard that watches, or how the last one ended; null when there was none. */
  readonly guard: GuardState | null;
  /** Null while no files are watched. */
  readonly watcher: Watcher | null;
  readonly components: Components;
  readonly processes: ServingProcesses;
  /**
   * Applies a change; see `Control.apply`.
   * @throws Refusal with every mistake; the old configuration then serves on, untouched.
   */
  apply(change: Change): Promise<Applied>;
  /**
   * Looks at a configuration and keeps nothing.
   * @param asStarted with what the command line adds to every configuration.
   * @throws Refusal with every mistake.
   */
  examine(snapshot: Snapshot, reach: Reach, asStarted?: boolean): Promise<Examined>;
  /** As of `Control.hasDrifted`. */
  hasDrifted(): Promise<boolean>;
  /** Lets somebody take part in every change from now on. @returns ends that. */
  join(participant: Participant): () => void;
  /** Empties the caches of a name, in every process. @returns false where no component has one of that name. */
  emptyCache(name: string): boolean;
  /** Faults of plugins from files, and which of them are suspended, in all processes together; a moment old. */
  readonly containment: Pick<Containment, 'records' | 'lift'>;
  /** Errors that nothing caught, in code of the release. */
  readonly internalErrors: Pick<InternalErrors, 'counts' | 'own' | 'watch' | 'onTooMany'>;
  /** What is served, in OpenAPI 3.1. @param audience default: everybody. @throws Error where nothing can describe it. */
  describe(audience?: string): Promise<DataObject>;
  /** Names of caches that can be emptied. */
  readonly caches: readonly string[];
  /** Sets the lowest level that every process logs, until its next configuration; null for the configured one. */
  setLogLevel(level: LogLevel | null): void;
  /**
   * From now on no connection of a component, in no worker, leads to an address where the gateway itself listens. Resolves
   * when that is so, with what allows it again.
   */
  deny(address: ListenAddress): Promise<() => void>;
}

/** What serves now, and how it was asked for. */
export interface ServingConfiguration extends Served, Pick<Current, 'snapshot' | 'trigger'> {
  /** As of `Control.file`. */
  readonly file: { text: string | null };
  /** How it sets the admin port; undefined when it says nothing. */
  readonly admin: AdminSettings | undefined;
  readonly logging: JoinedLogging;
}
