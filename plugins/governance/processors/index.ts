import { atService, definePlugin, offer, type Site, timerMs } from '#contract';
import { OnFailure } from '../../clients/redis/on-failure.ts';
import { connectionNamed, redisConnections } from '../../clients/redis/port.ts';
import {
  type Quota,
  type QuotaRule,
  quotas,
  type Reserve,
  reservations,
  type Verdict,
} from '../../shared/ports/quotas.ts';
import { memoryCounters } from './memory.ts';
import { Outage } from './outage.ts';
import { RefusedCallers } from './refused-callers.ts';
import { countingRule } from './rule.ts';
import { type ProcessorsConfig, type QuotaConfig, schema } from './schema.ts';

/**
 * Declares quotas: the allowances of callers by plan, counted in Redis across all gateways, or in the memory of one. A
 * use takes one round trip, and counts in all windows or in none.
 *
 * Configuration errors: `QUOTA_NAME`, `QUOTA_LIMITS`, `REDIS_CONNECTION`; a warning `QUOTA_CALLERS`.
 */
export const plugin = definePlugin({
  name: 'governance/processors',
  description: 'Declares quotas: usage limits per tier over hours to years, counted in Redis or in memory.',
  leaves: ['requests', 'data'],
  offers: [quotas, reservations],
  takes: [redisConnections],
  independent: true,
  places: [
    atService(schema, (site) => {
      const all = new Map<string, Quota>();
      const reserving = new Map<QuotaRule, Reserve>();
      for (const [index, config] of site.config.quotas.entries()) {
        const pointer = `/quotas/${index}`;
        refuseTwice(site, all, config.name, `${pointer}/name`);
        all.set(config.name, quotaOf(site, config, pointer, reserving));
      }
      return { offers: [offer(quotas, all), offer(reservations, reserving)] };
    }),
  ],
});

function quotaOf(
  site: Site<ProcessorsConfig>,
  config: QuotaConfig,
  pointer: string,
  reserving: Map<QuotaRule, Reserve>,
): Quota {
  const log = site.log.at(`[Quota: ${config.name}]`);
  const around = {
    quota: config.name,
    connection:
      config.connection_name === undefined
        ? memoryCounters(site, config.name)
        : connectionNamed(site, config.connection_name, `${pointer}/connection_name`),
    hashes: config.hash_keys,
    outage: new Outage(config.on_failure_max_retries, config.on_failure_backoff_strategy, log),
    refused: refusedCallers(site, config, pointer),
    clock: site.use('clock'),
  };
  const rules = new Map<string, QuotaRule>();
  for (const [index, { name, limits }] of config.rules.entries()) {
    const at = `${pointer}/rules/${index}`;
    refuseTwice(site, rules, name, `${at}/name`);
    const twice = limits.findIndex(({ unit }, position) => limits.findIndex((limit) => limit.unit === unit) < position);
    if (twice >= 0) {
      throw site.fault(
        'QUOTA_LIMITS',
        `${at}/limits/${twice}/unit`,
        `the rule has two limits for the unit ${limits[twice]!.unit}`,
      );
    }
    const { rule, reserve } = countingRule(name, limits, around);
    rules.set(name, rule);
    reserving.set(rule, reserve);
  }
  const onFailure = new OnFailure(config.on_failure_allow, log);
  return { rules, settle: onFailure.settle };
}

function refuseTwice(site: Site<unknown>, all: ReadonlyMap<string, unknown>, name: string, pointer: string): void {
  if (all.has(name)) throw site.fault('QUOTA_NAME', pointer, `duplicate name "${name}"`);
}

/** Maximum number of callers remembered; takes about 30 MB. */
const MOST_CALLERS = 100_000;

function refusedCallers(
  site: Site<unknown>,
  { rejecter_cache: config }: QuotaConfig,
  pointer: string,
): RefusedCallers<Verdict> | null {
  if (!config) return null;
  if (config.N > MOST_CALLERS) {
    const message = `only the latest ${MOST_CALLERS} rejected callers are cached; earlier ones are checked in Redis again`;
    site.warn('QUOTA_CALLERS', `${pointer}/rejecter_cache/N`, message, { hint: `"N": ${MOST_CALLERS}` });
  }
  const refused = new RefusedCallers<Verdict>(Math.min(config.N, MOST_CALLERS));
  const sweeper = setInterval(() => refused.clear(), timerMs(Math.max(config.cleanup_interval, 1000))).unref();
  site.defer(() => clearInterval(sweeper));
  return refused;
}
