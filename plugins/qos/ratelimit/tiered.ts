import {
  type AtEndpoint,
  atEndpoint,
  atService,
  before,
  type Call,
  type ClientRequest,
  type DataObject,
  definePlugin,
  type Infer,
  type Schema,
  type Site,
} from '#contract';
import { redisConnections } from '../../clients/redis/port.ts';
import { tierFields, tierFinder, tierKeySchema } from '../../shared/callers/tiers.ts';
import { lacksParam, refuseUnknownParam } from '../../shared/parameters/declared.ts';
import { redisLimit, redisLimitSchema } from '../lib/redis-limit.ts';
import { type Admitted, type RequestLimit, requestLimit, requestLimitSchema } from '../lib/request-limit.ts';

const schema = {
  type: 'object',
  title: 'Limits by plan',
  examples: [
    {
      tier_key: 'X-Plan',
      tiers: [
        { tier_value: 'gold', ratelimit: { client_max_rate: 100, strategy: 'header', key: 'X-User' } },
        {
          tier_value: "value.matches('^Team-[a-z]+$')",
          tier_value_as: 'policy',
          ratelimit: { max_rate: 500, client_max_rate: 20, strategy: 'ip' },
        },
        { tier_value_as: '*', ratelimit: { client_max_rate: 5, strategy: 'ip' } },
      ],
    },
  ],
  required: ['tier_key', 'tiers'],
  properties: {
    tier_key: tierKeySchema,
    tiers: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          ...tierFields,
          ratelimit: {
            ...requestLimitSchema,
            description:
              'Rate limit of the tier. Requests are counted separately for each place in which the limit is configured. Default: none.',
          },
          ratelimit_redis: {
            ...redisLimitSchema,
            description:
              'Rate limit with counters in Redis, shared by all gateways. Cannot be combined with ratelimit.',
          },
        },
      },
      description: 'Tiers, evaluated in order; the first match applies. Requests that match no tier are not limited.',
    },
  },
} as const satisfies Schema;

type TieredConfig = Infer<typeof schema>;

/**
 * Limits the rate of requests by the caller's plan. Each plan has its own counters, which are kept like those of
 * `qos/ratelimit/router`. At the root it runs before any component of an endpoint, at an endpoint after authentication
 * and `qos/ratelimit/router`, so that the plan can be a claim.
 */
export const plugin = definePlugin({
  name: 'qos/ratelimit/tiered',
  description: 'Limits the request rate by the tier of the caller, for the whole service or one endpoint.',
  leaves: ['requests', 'data'],
  takes: [redisConnections],
  independent: true,
  places: [
    atService(schema, (site) => {
      const limits = limitsOf(site, { of: 'service' }, 'service');
      if (limits.every((limit) => limit === null)) return {};
      const decide = tierFinder(site);
      return {
        eachEndpoint: ({ endpoint }) => admitting(site, decide, limits, endpoint.endpoint),
      };
    }),
    atEndpoint(schema, (site) => {
      const { method, endpoint } = site.endpoint;
      for (const [index, tier] of site.config.tiers.entries()) {
        for (const field of kinds) if (tier[field]) refuseUnknownParam(site, tier[field], `/tiers/${index}/${field}`);
      }
      const limits = limitsOf(site, { method, endpoint }, `${method}:${endpoint}`);
      return admitting(site, tierFinder(site), limits, endpoint);
    }),
  ],
});

const kinds = ['ratelimit', 'ratelimit_redis'] as const;

/**
 * One limit per tier, null for a tier without one. Each endpoint or service that configures the component, and each
 * plan in it, has its own counters.
 * @param place of the counters in memory. @param scope of those in Redis.
 * @throws ConfigError TIER_LIMIT and those of the limits.
 */
function limitsOf(site: Site<TieredConfig>, place: DataObject, scope: string): readonly (RequestLimit | null)[] {
  return site.config.tiers.map((tier, index) => {
    const { ratelimit, ratelimit_redis: inRedis, tier_value: plan, tier_value_as: as } = tier;
    const pointer = `/tiers/${index}`;
    if (ratelimit && inRedis) {
      throw site.fault('TIER_LIMIT', pointer, 'a tier must have either ratelimit or ratelimit_redis, not both', {
        hint: 'remove one of them',
      });
    }
    if (ratelimit) return requestLimit(site, ratelimit, { ...place, plan, as }, `${pointer}/ratelimit`);
    return inRedis ? redisLimit(site, inRedis, `${scope}:tier:${as}:${plan}`, `${pointer}/ratelimit_redis`) : null;
  });
}

function admitting(
  { config, log }: Site<TieredConfig>,
  tierOf: (plan: string, call: Call) => number,
  limits: readonly (RequestLimit | null)[],
  path: string,
): AtEndpoint {
  const header = config.tier_key.toLowerCase();
  const hooks = limits.map((limit, index) => {
    const { ratelimit, ratelimit_redis: inRedis } = config.tiers[index]!;
    const said = ratelimit ?? inRedis;
    return limit && (said && lacksParam(path, said) ? limit.admitAll : limit.admit);
  });
  return {
    state: () => statesOf(config, limits),
    endpoint: before((request: ClientRequest, call: Call): Admitted => {
      const plan = request.headers.get(header) ?? '';
      const tier = tierOf(plan, call);
      if (tier >= 0) return hooks[tier]?.(request, call);
      log.debug(() => `[Tier] no tier matches ${JSON.stringify(plan.slice(0, 128))}`);
      return undefined;
    }),
  };
}

/** States of the limits whose counters are in this process, each name beginning with its tier; null for none. */
function statesOf({ tiers }: TieredConfig, limits: readonly (RequestLimit | null)[]): DataObject | null {
  const members = limits.flatMap((limit, index) => {
    const { tier_value: value, tier_value_as: as } = tiers[index]!;
    const tier = as === '*' ? '*' : value;
    return Object.entries(limit?.state?.() ?? {}).map(([name, count]) => [`${tier} ${name}`, count] as const);
  });
  return members.length === 0 ? null : Object.fromEntries(members);
}
