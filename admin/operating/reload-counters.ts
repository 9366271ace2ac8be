import type { Attempt, Operations, Trigger } from '#kernel';

/** How often changes of one kind ended in one way. */
export interface ReloadCount {
  readonly trigger: Trigger;
  readonly result: Attempt['result'];
  readonly count: number;
}

/** What became of the changes of configuration; dry runs do not count. */
export interface ReloadCounters {
  readonly counts: readonly ReloadCount[];
  /** Whether the last one succeeded; true before any. */
  readonly lastSucceeded: boolean;
  /** When the last one succeeded, in milliseconds since 1970; null when none has. */
  readonly lastSuccessAt: number | null;
  /** Milliseconds by step of the last one. */
  readonly lastPhases: Attempt['phases'];
  close(): void;
}

/** Counts from the start of the gateway, or from as far back as its events are remembered. */
export function countReloads({ events, attempts }: Pick<Operations, 'events' | 'attempts'>): ReloadCounters {
  const counts = new Map<string, ReloadCount>();
  let last: Attempt | null = null;
  let lastSuccessAt: number | null = null;
  const count = (attempt: Attempt | undefined): void => {
    if (!attempt || attempt.dryRun) return;
    const { trigger, result } = attempt;
    const key = `${trigger} ${result}`;
    counts.set(key, { trigger, result, count: (counts.get(key)?.count ?? 0) + 1 });
    last = attempt;
    if (result !== 'failed') lastSuccessAt = Date.parse(attempt.at) + attempt.durationMs;
  };
  const close = events.subscribe({ after: 0, types: ['reload.succeeded', 'reload.failed'] }, ({ type, data }) => {
    // A success is told as what it did, a failure as its attempt.
    if (type === 'reload.failed') count(data);
    else if (type === 'reload.succeeded') count(attempts.get(data.attempt));
  });
  return {
    get counts() {
      return [...counts.values()];
    },
    get lastSucceeded() {
      return last?.result !== 'failed';
    },
    get lastSuccessAt() {
      return lastSuccessAt;
    },
    get lastPhases() {
      return last?.phases ?? {};
    },
    close,
  };
}
