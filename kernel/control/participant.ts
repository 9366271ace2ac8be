import { ConfigError } from '#contract';
import type { FileContent } from '../runtime/prints/read-files.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Snapshot } from './snapshot.ts';

/** A configuration that is about to become active, built and validated in this process. */
export interface Next {
  readonly runtime: Runtime;
  readonly snapshot: Snapshot;
  /** Files that were read for the configuration in addition to the document, by absolute path. */
  readonly files: readonly (readonly [string, FileContent])[];
  /** Values of the configuration's references to secrets, by the IDs of the references. */
  readonly secrets: readonly (readonly [string, string])[];
  /** Signal that aborts when the change is abandoned. */
  readonly signal: AbortSignal;
}

type Rebound = readonly string[] | void;

/** A participant that is prepared. After `precommit` has succeeded, activating the configuration cannot fail. */
export interface Ready {
  /**
   * Runs steps that may fail and must not be undone: called when all participants are ready, directly before the
   * configuration becomes active. Not called in a dry run.
   * @throws ConfigErrors to abandon the change; `abort` follows.
   */
  precommit?(): Promise<void>;
  /** Resolves when the participant uses the new configuration, with the addresses that it opened in place of others. */
  commit(): Rebound | Promise<Rebound>;
  abort(): void | Promise<void>;
}

/** Takes part in every configuration change, for example a worker process that serves the configuration, or a port. */
export interface Participant {
  /**
   * Prepares for the configuration, or rejects it for all.
   * @throws ConfigErrors with every error, or GatewayError PREPARE_TIMEOUT.
   */
  prepare(next: Next): Promise<Ready>;
}

/**
 * Makes all participants use the new configuration, even if some fail, because it is already active.
 * @returns the addresses that were opened in place of others, and the participants that failed.
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
  return new ConfigError(
    'COMMIT_FAILED',
    '',
    `the configuration is active, but a part of the gateway has not switched to it: ${message}`,
    { cause },
  );
}

/** Makes all participants release their preparations. */
export async function abortAll(ready: readonly Ready[]): Promise<void> {
  await Promise.all(ready.map((one) => one.abort()));
}

/**
 * Prepares all participants or none: when it throws, no participant has anything to release.
 * @param isDryRun omits the steps that cannot be undone.
 */
export async function prepareAll(
  participants: readonly Participant[],
  next: Next,
  isDryRun: boolean,
): Promise<readonly Ready[]> {
  const settled = await Promise.allSettled(participants.map((participant) => participant.prepare(next)));
  const ready = settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  try {
    const refused = settled.find((outcome) => outcome.status === 'rejected');
    if (refused) throw refused.reason;
    if (!isDryRun) for (const one of ready) await one.precommit?.();
    return ready;
  } catch (error) {
    await abortAll(ready);
    throw error;
  }
}
