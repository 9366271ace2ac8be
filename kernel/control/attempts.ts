import type { Phase } from '../runtime/phases.ts';
import type { GuardState } from './guard.ts';
import { type Refusal, type RefusalRecord, recordOf } from './refusal.ts';

/** What asked for a change. */
export type Trigger = 'start' | 'watch' | 'signal' | 'api' | 'rollback' | 'guard' | 'resume';

/** What came of an attempt. */
export type AttemptResult = 'running' | 'applied' | 'unchanged' | 'dry_run' | 'failed';

/** One try to apply a configuration. */
export interface Attempt {
  /** Grows by one with every attempt of this process. */
  readonly id: number;
  readonly trigger: Trigger;
  readonly actor: string | null;
  /** True for one that was not to serve. */
  readonly dryRun: boolean;
  /** When it began, in ISO 8601. */
  readonly at: string;
  result: AttemptResult;
  /** The revision that served when it ended. */
  revision: number;
  durationMs: number;
  phases: Readonly<Partial<Record<Phase, number>>>;
  /** Why it failed. */
  problem: RefusalRecord | null;
  /** The guard that it asked for; null where there is none. */
  guard: GuardState | null;
}

/** What an attempt is begun with. */
interface Asked {
  readonly trigger: Trigger;
  readonly actor?: string | null | undefined;
  readonly dryRun?: boolean | undefined;
}

/** The last attempts, failed ones too. */
export class Attempts {
  readonly #kept: Attempt[] = [];
  readonly #limit: number;
  #last = 0;
  /** Which attempt an error ended. */
  readonly #ended = new WeakMap<object, number>();

  constructor(limit = 100) {
    this.#limit = limit;
  }

  begin({ trigger, actor = null, dryRun = false }: Asked, revision: number): Attempt {
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
    };
    this.#kept.push(attempt);
    if (this.#kept.length > this.#limit) this.#kept.shift();
    return attempt;
  }

  /** Notes why an attempt failed. @param error whoever asked for it gets. */
  fail(attempt: Attempt, refusal: Refusal, error: unknown): void {
    attempt.problem = recordOf(refusal);
    if (error instanceof Object) this.#ended.set(error, attempt.id);
  }

  /** The attempt that ended with an error; undefined when none did. */
  endedBy(error: unknown): number | undefined {
    return error instanceof Object ? this.#ended.get(error) : undefined;
  }

  /** Newest first. */
  get list(): readonly Attempt[] {
    return this.#kept.toReversed();
  }

  get(id: number): Attempt | undefined {
    return this.#kept.find((attempt) => attempt.id === id);
  }
}
