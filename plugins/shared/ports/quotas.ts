import { type Allowance, type Call, definePort, type Port, type Reply } from '#contract';

/** Result of counting a use. */
export interface Verdict {
  /** Seconds until the caller can use the quota again, at least 1; null for an allowed use. */
  readonly retrySeconds: number | null;
  /** Allowances, in the order of the limits of the rule. */
  readonly allowances: readonly Allowance[];
}

/** A use that was counted before its size was known. */
export interface Reservation {
  readonly verdict: Verdict;
  /** Replaces the reserved amount with the amount used, in the same windows. Must be called at most once, if the use was allowed. */
  settle(used: number, call: Call): Promise<Verdict>;
}

/** Quota of the callers of one plan. Every method throws RedisError if the use cannot be counted. */
export interface QuotaRule {
  /** Counts 1 in every window, or in none if one of them is full. */
  take(caller: string, call: Call): Promise<Verdict>;
  /** Checks without counting: rejects a caller whose quota is used up. */
  look(caller: string, call: Call): Promise<Verdict>;
  /** Adds the weight to every window, including full ones. */
  add(caller: string, weight: number, call: Call): Promise<Verdict>;
}

/** A quota, shared by all components that name it. */
export interface Quota {
  readonly rules: ReadonlyMap<string, QuotaRule>;
  /** Decides on a request that could not be counted: undefined accepts it. */
  settle(error: unknown): Reply | undefined;
}

/** Counts a use of unknown size in every window, or in none if it does not fit into one of them. */
export type Reserve = (caller: string, weight: number, call: Call) => Promise<Reservation>;

/** Reservations of the rules of all quotas. */
export const reservations: Port<ReadonlyMap<QuotaRule, Reserve>> = definePort('reservations of quotas');

/** The quotas of a configuration, by name. */
export const quotas: Port<ReadonlyMap<string, Quota>> = definePort('quotas');
