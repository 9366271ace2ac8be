import { type Allowance, type Call, definePort, type Port, type Reply } from '#contract';

/** What became of a use. */
export interface Verdict {
  /** Null for a use that is allowed, else the seconds until there is room again, at least 1. */
  readonly retrySeconds: number | null;
  /** In the order of the limits of the rule. */
  readonly allowances: readonly Allowance[];
}

/** What callers of one plan may use. Everything throws RedisTrouble where it is not counted. */
export interface QuotaRule {
  /** Counts 1 in every window, or in none where one has no room. */
  take(caller: string, call: Call): Promise<Verdict>;
  /** Counts nothing: refuses whoever has used everything up. */
  look(caller: string, call: Call): Promise<Verdict>;
  /** Counts in every window, whatever room there is. */
  add(caller: string, weight: number, call: Call): Promise<Verdict>;
}

/** A quota, which whoever names it spends together. */
export interface Quota {
  readonly rules: ReadonlyMap<string, QuotaRule>;
  /** What becomes of a request that is not counted: undefined to let it pass. */
  settle(error: unknown): Reply | undefined;
}

/** The quotas of a configuration, by name. */
export const quotas: Port<ReadonlyMap<string, Quota>> = definePort('quotas');
