import type { Attempt, Operations, Trigger } from '#kernel';

/** Number of changes of one kind with one result. */
export interface ReloadCount {
  readonly trigger: Trigger;
  readonly result: Attempt['result'];
  readonly count: number;
}

/** Counters of configuration changes by result; dry runs are not counted. */
export interface ReloadCounters {
  readonly counts: readonly ReloadCount[];
  /** Whether the last change succeeded; true before the first one. */
  readonly lastSucceeded: boolean;
  /** Time of the last successful change, in milliseconds since 1970; null when there was none. */
  readonly lastSuccessAt: number | null;
  /** Duration of each phase of the last change, in milliseconds. */
  readonly lastPhases: Attempt['phases'];
  close(): void;
}

/** Counts from the start of the gateway, or from its oldest remembered event. */
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
    // The event of a failed reload contains the attempt; the event of a successful one contains only the attempt's
    // number.
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
