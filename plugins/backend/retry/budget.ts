/** Number of active requests to the hosts of a backend, and of the retries among them. */
export interface Use {
  active: number;
  retries: number;
}

/** Limits on concurrent retries. */
export interface BudgetLimits {
  readonly percent: number;
  readonly min_concurrency: number;
}

/** Whether one more retry is within the budget. */
export function allowsRetry({ active, retries }: Use, { percent, min_concurrency: least }: BudgetLimits): boolean {
  return retries < Math.max(least, (active * percent) / 100);
}
