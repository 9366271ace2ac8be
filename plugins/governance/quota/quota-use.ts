import {
  type Call,
  CallError,
  type ClientRequest,
  findNear,
  type HeaderBag,
  isHeaderName,
  type Reply,
  type Site,
} from '#contract';
import { type Identify, identifyBy } from '../../shared/callers/client-identity.ts';
import { tierFinder } from '../../shared/callers/tiers.ts';
import { type Quota, type QuotaRule, quotas, type Verdict } from '../../shared/ports/quotas.ts';
import type { QuotaUseConfig } from './schema.ts';

const ofClient = (code: string, message: string, status: number) =>
  new CallError(code, message, { view: { status, body: '' } });
const noTier = ofClient('QUOTA_TIER', 'no tier of the quota matches the caller', 400);
const noCaller = ofClient('QUOTA_CALLER', 'the caller cannot be identified', 400);
export const usedUp = ofClient('QUOTA_EXCEEDED', 'quota exceeded', 429);

/** The caller whose quota a request uses. */
export interface Use {
  readonly rule: QuotaRule;
  readonly caller: string;
}

/** A quota as used in one endpoint, backend or the service. */
export interface QuotaUse {
  readonly quota: Quota;
  /** The caller whose quota is used: null for a request that passes uncounted, an error for one that is rejected. */
  useOf(request: ClientRequest, call: Call): Use | CallError | null;
}

/** @throws ConfigError QUOTA_UNKNOWN, QUOTA_RULE, QUOTA_KEY, and errors for unusable tiers. */
export function quotaUse(site: Site<QuotaUseConfig>): QuotaUse {
  const { config } = site;
  const quota = named(site, site.take(quotas), config.quota_name, 'QUOTA_UNKNOWN', '/quota_name', 'quota');
  const tierOf = tierFinder(site);
  const tiers = config.tiers.map(({ rule_name: rule, strategy, key }, index): [QuotaRule, Identify] => {
    const at = `/tiers/${index}`;
    const found = named(site, quota.rules, rule, 'QUOTA_RULE', `${at}/rule_name`, 'rule of the quota');
    if (key === '' ? strategy !== 'ip' : strategy !== 'param' && !isHeaderName(key)) {
      const message = key === '' ? `the strategy ${strategy} requires a key` : `"${key}" is not a header name`;
      throw site.fault('QUOTA_KEY', `${at}/key`, message);
    }
    return [found, identifyBy(strategy, key)];
  });
  const header = config.tier_key.toLowerCase();
  return {
    quota,
    useOf(request, call) {
      const tier = tiers[tierOf(request.headers.get(header) ?? '', call)];
      if (!tier) return config.on_unmatched_tier_allow ? null : noTier;
      const [rule, identify] = tier;
      const caller = identify(request);
      return caller === '' ? noCaller : { rule, caller };
    },
  };
}

function named<T>(
  site: Site<unknown>,
  all: ReadonlyMap<string, T> | undefined,
  name: string,
  code: string,
  pointer: string,
  what: string,
): T {
  const value = all?.get(name);
  if (value) return value;
  const near = findNear(name, [...(all?.keys() ?? [])]);
  throw site.fault(code, pointer, `unknown ${what} "${name}"`, {
    hint: near
      ? `did you mean "${near.name}"?`
      : 'declare quotas and their rules in "governance/processors" at the root',
    fix: near?.isSure ? { value: near.name } : undefined,
  });
}

/** Sets the response headers that report the quota, as `"day";n=3, "month";n=100`. */
export function writeAllowances(headers: HeaderBag, { retrySeconds, allowances }: Verdict): HeaderBag {
  headers.set('X-Quota-Limit', allowances.map(({ unit, amount }) => `"${unit}";n=${amount}`).join(', '));
  headers.set('X-Quota-Remaining', allowances.map(({ unit, remaining }) => `"${unit}";n=${remaining}`).join(', '));
  if (retrySeconds !== null) headers.set('Retry-After', String(retrySeconds));
  return headers;
}

/** True for a successful response: a failed one does not use up quota. */
export function isMade(reply: Reply): boolean {
  return !reply.failed && reply.status < 400;
}
