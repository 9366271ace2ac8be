import type { ConfigError } from '#contract';
import type { Issue } from '../config/index.ts';
import type { EndpointChanges } from '../runtime/endpoint-prints.ts';
import type { Phase } from '../runtime/phases.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Trigger } from './attempts.ts';
import type { GuardThresholds } from './guard.ts';
import type { Participant } from './participant.ts';
import type { Snapshot, Source } from './snapshot.ts';

/** A request for another configuration. */
export interface Change {
  readonly trigger: Trigger;
  /**
   * Default: the source that serves is read again. What follows from what serves is a function: it is asked when the
   * change's turn has come, because the changes before it may have replaced that. What it throws gives the change up.
   */
  readonly source?: Source | (() => Source) | undefined;
  /** Paths of the saved files that caused it. */
  readonly saved?: readonly string[] | undefined;
  /** Who asks, for the history. */
  readonly actor?: string | null | undefined;
  readonly message?: string | null | undefined;
  /** Apply it though it is what serves already. */
  readonly force?: boolean | undefined;
  /** Do everything but the swap. */
  readonly dryRun?: boolean | undefined;
  /** Longest wait for changes before it, in milliseconds. Default: as long as it takes. */
  readonly waitMs?: number | undefined;
  /** Takes part in this change alone, also when nothing is to be swapped, such as a file that is to be written with it. */
  readonly participant?: Participant | undefined;
  /** Whether it goes into the history; true unless false. */
  readonly recorded?: boolean | undefined;
  /** Watches over it once it serves, and takes it back when endpoints get worse. */
  readonly guard?: GuardRequest | undefined;
  /** Looks at what serves when the change's turn has come. @throws to give it up. */
  readonly provided?: ((serving: Runtime) => void) | undefined;
  /** Told the number of the attempt when it begins. */
  readonly begun?: ((attempt: number) => void) | undefined;
}

/** How long to watch over a change, and what counts as worse. */
export interface GuardRequest {
  readonly durationMs: number;
  readonly thresholds?: GuardThresholds | undefined;
}

/** What a change did. */
export interface Applied {
  readonly result: 'applied' | 'unchanged' | 'dry_run';
  /** The revision that serves now. */
  readonly revision: number;
  /** The one that served before; 0 at the start. */
  readonly previous: number;
  /** Fingerprint of the configuration that was asked for; empty at the start, when nothing is compared. */
  readonly hash: string;
  /** Number of the attempt. */
  readonly attempt: number;
  readonly durationMs: number;
  /** Milliseconds by step. */
  readonly phases: Readonly<Partial<Record<Phase, number>>>;
  readonly changes: EndpointChanges;
  /** Addresses that were opened in the place of others. */
  readonly rebound: readonly string[];
  /** Mistakes that did not refuse it. */
  readonly warnings: readonly ConfigError[];
  /** The same with their places. */
  readonly issues: readonly Issue[];
}

/** What serves, as it was asked for. */
export interface Current {
  readonly snapshot: Snapshot;
  readonly warnings: readonly ConfigError[];
  /** What brought it. */
  readonly trigger: Trigger;
  readonly at: string;
}
