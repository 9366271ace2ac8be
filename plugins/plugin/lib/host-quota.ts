import {
  Call,
  type ConfigError,
  findNear,
  type Log,
  type QuotaClient,
  type QuotaRuleClient,
  type QuotaVerdict,
} from '#contract';
import type { Quota, QuotaRule, Verdict } from '../../shared/ports/quotas.ts';

/** Creates the configuration error for a reference to an unknown name. */
export type UnknownName = (code: string, message: string, hint: string) => ConfigError;

/** Returns the quota of that name. @throws ConfigError QUOTA_UNKNOWN */
export function quotaClient(
  all: ReadonlyMap<string, Quota> | undefined,
  name: string,
  log: Log,
  unknown: UnknownName,
): QuotaClient {
  const { rules } = named(all, name, unknown, 'QUOTA_UNKNOWN', 'no quota of "governance/processors" at the root');
  return Object.freeze<QuotaClient>({
    name,
    rule: (rule) => ruleClient(named(rules, rule, unknown, 'QUOTA_RULE', `no rule of the quota "${name}"`), log),
  });
}

function ruleClient(rule: QuotaRule, log: Log): QuotaRuleClient {
  return Object.freeze<QuotaRuleClient>({
    take: async (caller) => verdictOf(await rule.take(checkedCaller(caller), new Call(log))),
    look: async (caller) => verdictOf(await rule.look(checkedCaller(caller), new Call(log))),
    async add(caller, weight) {
      if (!Number.isFinite(weight) || weight < 0) throw new RangeError('the weight must be at least 0');
      return verdictOf(await rule.add(checkedCaller(caller), weight, new Call(log)));
    },
  });
}

function verdictOf({ retrySeconds, allowances }: Verdict): QuotaVerdict {
  return { allowed: retrySeconds === null, retrySeconds, allowances };
}

function checkedCaller(caller: unknown): string {
  if (typeof caller === 'string' && caller !== '') return caller;
  throw new TypeError('the caller must be a non-empty string');
}

function named<T>(
  all: ReadonlyMap<string, T> | undefined,
  name: string,
  unknown: UnknownName,
  code: string,
  what: string,
): T {
  const value = all?.get(name);
  if (value) return value;
  const names = [...(all?.keys() ?? [])];
  const near = findNear(String(name), names);
  const hint = near
    ? `did you mean "${near.name}"?`
    : names.length > 0
      ? `one of ${names.join(', ')}`
      : 'none is declared';
  throw unknown(code, `${what} is named "${name}"`, hint);
}
