import type { Phase } from '../runtime/build/phases.ts';
import type { GuardState } from './guard.ts';
import { type Refusal, type RefusalRecord, recordOf } from './refusal.ts';
import type { ReplayReport } from './replay-report.ts';
import type { ShadowReport } from './shadow-report.ts';

/** The trigger of a configuration change. */
export type Trigger = 'start' | 'watch' | 'signal' | 'api' | 'rollback' | 'guard' | 'resume' | 'secret';

/** Outcome of an attempt. */
export type AttemptResult = 'running' | 'applied' | 'unchanged' | 'dry_run' | 'failed';

/** One attempt to apply a configuration. */
export interface Attempt {
  /** Increases by one with every attempt of this process. */
  readonly id: number;
  readonly trigger: Trigger;
  readonly actor: string | null;
  /** True for a dry run, whose configuration never becomes active. */
  readonly dryRun: boolean;
  /** Start time, in ISO 8601. */
  readonly at: string;
  result: AttemptResult;
  /** The revision that was serving when the attempt ended. */
  revision: number;
  durationMs: number;
  phases: Readonly<Partial<Record<Phase, number>>>;
  /** The reason for the failure; null unless it failed. */
  problem: RefusalRecord | null;
  /** The guard that the attempt requested; null without one. */
  guard: GuardState | null;
  /** Outcome of the replay that the attempt requested; null without one, and if the configuration was already active. */
  replay: ReplayReport | null;
  /** State of the shadow run that the attempt started; null without one. */
  shadow: ShadowReport | null;
}

/** Input for a new attempt. */
interface AttemptInput {
  readonly trigger: Trigger;
  readonly actor?: string | null | undefined;
  readonly dryRun?: boolean | undefined;
}

/** The last attempts, including failed ones. */
export class Attempts {
  readonly #kept: Attempt[] = [];
  readonly #limit: number;
  #last = 0;
  /** The attempt that failed with each error. */
  readonly #ended = new WeakMap<object, number>();

  constructor(limit = 100) {
    this.#limit = limit;
  }

  begin({ trigger, actor = null, dryRun = false }: AttemptInput, revision: number): Attempt {
    const attempt: Attempt = {
      id: ++this.#last,
      trigger,
      actor,
      dryRun,
      at: new Date().toISOString(),
      result: 'running',
      revision,
      durationMs: 0,
      phases: {},
      problem: null,
      guard: null,
      replay: null,
      shadow: null,
    };
    this.#kept.push(attempt);
    if (this.#kept.length > this.#limit) this.#kept.shift();
    return attempt;
  }

  /** Records why an attempt failed. @param error the error that the caller receives. */
  fail(attempt: Attempt, refusal: Refusal, error: unknown): void {
    attempt.problem = recordOf(refusal);
    if (error instanceof Object) this.#ended.set(error, attempt.id);
  }

  /** The attempt that ended with an error; undefined without one. */
  endedBy(error: unknown): number | undefined {
    return error instanceof Object ? this.#ended.get(error) : undefined;
  }

  /** The remembered attempts, newest first. */
  get list(): readonly Attempt[] {
    return this.#kept.toReversed();
  }

  get(id: number): Attempt | undefined {
    return this.#kept.find((attempt) => attempt.id === id);
  }
}
