import type { ConfigError } from '#contract';
import type { Issue, SecretValues } from '../config/index.ts';
import type { Phase } from '../runtime/build/phases.ts';
import type { EndpointChanges } from '../runtime/prints/endpoint-prints.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Attempt, Trigger } from './attempts.ts';
import type { GuardThresholds } from './guard.ts';
import type { Next, Participant } from './participant.ts';
import type { Snapshot, Source } from './snapshot.ts';

/** A request to change the configuration. */
export interface Change {
  readonly trigger: Trigger;
  /**
   * Default: the serving source is read again. A source derived from the serving configuration is a function: it is
   * called when the change's turn comes, because earlier changes may have replaced that configuration. If it throws,
   * the change is abandoned.
   */
  readonly source?: Source | (() => Source) | undefined;
  /**
   * Whether the document that is being served is built again instead of reading the source. Only for a gateway that
   * serves.
   */
  readonly asServed?: true;
  /** Values of references to secrets, to be used instead of those in the stores. */
  readonly secrets?: SecretValues | null;
  /** Paths of the saved files that triggered the change. */
  readonly saved?: readonly string[] | undefined;
  /** Name of the requester, for the history. */
  readonly actor?: string | null | undefined;
  readonly message?: string | null | undefined;
  /** Apply the configuration even if it is already active. */
  readonly force?: boolean | undefined;
  /** Run every step except the swap. */
  readonly dryRun?: boolean | undefined;
  /** Longest wait for earlier changes, in milliseconds. Default: no limit. */
  readonly waitMs?: number | undefined;
  /**
   * Participant of this change only, such as the writer of the configuration file. Called even if the configuration
   * stays active unchanged.
   */
  readonly participant?: Participant | undefined;
  /**
   * Examines the new configuration once it is built, before other processes prepare it; in dry runs, too. Not called for
   * a configuration that is already active.
   * @throws ConfigErrors to abandon the change.
   */
  readonly rehearse?: ((next: Next, attempt: Attempt) => Promise<void>) | undefined;
  /** Record the change in the history. Default: true. */
  readonly recorded?: boolean | undefined;
  /** Watches the new configuration once it serves requests, and rolls it back if error rates or latencies get worse. */
  readonly guard?: GuardRequest | undefined;
  /** Checks the active configuration when it is this change's turn. @throws an error to abandon the change. */
  readonly provided?: ((serving: Runtime) => void) | undefined;
  /** Called with the number of the attempt when the attempt begins. */
  readonly begun?: ((attempt: number) => void) | undefined;
}

/** Duration for which a change is monitored, and the thresholds above which it counts as worse. */
export interface GuardRequest {
  readonly durationMs: number;
  readonly thresholds?: GuardThresholds | undefined;
}

/** Result of a change. */
export interface Applied {
  readonly result: 'applied' | 'unchanged' | 'dry_run';
  /** The revision in use after the change. */
  readonly revision: number;
  /** The revision in use before the change; 0 at startup. */
  readonly previous: number;
  /** Fingerprint of the requested configuration; empty at startup, when nothing is compared. */
  readonly hash: string;
  /** Number of the attempt. */
  readonly attempt: number;
  readonly durationMs: number;
  /** Duration of each step, in milliseconds. */
  readonly phases: Readonly<Partial<Record<Phase, number>>>;
  readonly changes: EndpointChanges;
  /** Listen addresses that were opened to replace earlier ones. */
  readonly rebound: readonly string[];
  /** Errors that did not cause a rejection. */
  readonly warnings: readonly ConfigError[];
  /** The warnings with their locations. */
  readonly issues: readonly Issue[];
}

/** The active configuration, as it was requested. */
export interface Current {
  readonly snapshot: Snapshot;
  readonly warnings: readonly ConfigError[];
  /** Trigger of the change that applied the serving configuration. */
  readonly trigger: Trigger;
  readonly at: string;
  /** Values of the configuration's references to secrets; null without references. */
  readonly secrets: SecretValues | null;
}
