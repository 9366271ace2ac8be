import { ConfigError } from '#contract';
import type { FileContent } from '../runtime/read-files.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Snapshot } from './snapshot.ts';

/** A configuration about to serve: built and found good in this process. */
export interface Next {
  readonly runtime: Runtime;
  readonly snapshot: Snapshot;
  /** What was read for it besides the document, by absolute path. */
  readonly files: readonly (readonly [string, FileContent])[];
  /** Aborts when the change is given up. */
  readonly signal: AbortSignal;
}

type Rebound = readonly string[] | void;

/** Ready for the next configuration: once precommitted, the swap cannot fail any more. */
export interface Ready {
  /**
   * What may fail and is not to be undone: called when everybody is ready, and with the swap right behind it. Not in a dry
   * run.
   * @throws ConfigErrors to give the change up; `abort` follows.
   */
  precommit?(): Promise<void>;
  /** Resolves when the participant has changed over, with the addresses it opened in the place of others. */
  commit(): Rebound | Promise<Rebound>;
  abort(): void | Promise<void>;
}

/** Has a part in every change of configuration, such as other processes that serve it, or a port of their own. */
export interface Participant {
  /**
   * Gets ready, or refuses the configuration for all.
   * @throws ConfigErrors with what is wrong, or GatewayError PREPARE_TIMEOUT.
   */
  prepare(next: Next): Promise<Ready>;
}

/**
 * Everybody changes over, whatever becomes of the others: the new configuration serves already.
 * @returns the addresses that were opened in the place of others, and who did not follow.
 */
export async function commitAll(
  ready: readonly Ready[],
): Promise<{ readonly rebound: readonly string[]; readonly failures: readonly ConfigError[] }> {
  const settled = await Promise.allSettled(ready.map(async (one) => one.commit()));
  return {
    rebound: settled.flatMap((outcome) => (outcome.status === 'fulfilled' && outcome.value) || []),
    failures: settled.flatMap((outcome) => (outcome.status === 'rejected' ? [toFailure(outcome.reason)] : [])),
  };
}

function toFailure(cause: unknown): ConfigError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new ConfigError('COMMIT_FAILED', '', `applied, but not everything has followed: ${message}`, { cause });
}

/** Everybody releases what they got ready. */
export async function abortAll(ready: readonly Ready[]): Promise<void> {
  await Promise.all(ready.map((one) => one.abort()));
}
