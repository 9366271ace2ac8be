import {
  type AtBackend,
  type AtEndpoint,
  atBackend,
  atEndpoint,
  atService,
  Call,
  type CallError,
  type ClientRequest,
  definePlugin,
  type EndpointSite,
  HeaderBag,
  meters,
  type PipeRequest,
  Reply,
  refuse,
  type Site,
  type Step,
  type Wrap,
} from '#contract';
import { limitedWarning } from '../../shared/logging/limited-warning.ts';
import { refuseUnknownParam } from '../../shared/parameters/declared.ts';
import { quotas, reservations, type Verdict } from '../../shared/ports/quotas.ts';
import { reportsUsage } from '../../shared/ports/usage.ts';
import { type Budget, budgetOf } from './budget.ts';
import { spending } from './budgeting.ts';
import { type Metering, meteringOf } from './metering.ts';
import { isMade, quotaUse, type Use, usedUp, writeAllowances } from './quota-use.ts';
import { type QuotaUseConfig, schema, serviceSchema } from './schema.ts';
import { weightReader } from './weight.ts';

/**
 * Rejects callers that have exhausted the quota of their plan: at the root before any endpoint logic, at an endpoint
 * after its rate limits, at a backend inside the circuit breaker, where a rejection counts as a failure of that
 * backend.
 *
 * Configuration errors: `QUOTA_UNKNOWN`, `QUOTA_RULE`, `QUOTA_KEY`, `QUOTA_BUDGET`, `TIER_KEY`; a warning
 * `TIER_HIDDEN`. Errors of a call: `QUOTA_EXCEEDED`, `QUOTA_TIER`, `QUOTA_CALLER`, `REDIS_FAILED`.
 */
export const plugin = definePlugin({
  name: 'governance/quota',
  description: 'Rejects callers that have used up the quota of their tier.',
  requires: ['governance/processors'],
  leaves: ['requests', 'data'],
  takes: [quotas, reservations, reportsUsage, meters],
  independent: true,
  places: [
    atService(serviceSchema, (site) => {
      const wrap = counting(site, clientOf, refusal, { metering: null, budget: null, weightKey: null });
      return { eachEndpoint: (): AtEndpoint => ({ endpoint: wrap }) };
    }),
    atEndpoint(schema, (site): AtEndpoint => {
      refuseUnknownParams(site);
      const use = useAt(site);
      return { endpoint: counting(site, clientOf, refusal, use), ...reads(site), ...use.metering?.hook };
    }),
    atBackend(schema, (site): AtBackend => {
      refuseUnknownParams(site);
      const use = useAt(site);
      const clientOfBackend = ({ client }: PipeRequest) => client;
      return { backend: counting(site, clientOfBackend, failure, use), ...reads(site), ...use.metering?.hook };
    }),
  ],
});

/** Measurement of the usage of a quota in one endpoint, backend or the service. */
interface Measured {
  readonly metering: Metering | null;
  readonly budget: Budget | null;
  readonly weightKey: string | null;
}

function useAt(site: EndpointSite<QuotaUseConfig>): Measured {
  return { metering: meteringOf(site), budget: budgetOf(site), weightKey: site.config.weight_key ?? null };
}

function refuseUnknownParams(site: EndpointSite<QuotaUseConfig>): void {
  for (const [index, tier] of site.config.tiers.entries())
    refuseUnknownParam(site, tier, `/tiers/${index}`, 'QUOTA_KEY');
}

function reads({ config }: Site<QuotaUseConfig>): { readonly readsData?: true } {
  return config.weight_key !== undefined && config.weight_strategy === 'body' ? { readsData: true } : {};
}

const clientOf = (request: ClientRequest) => request;

type Refuse = (error: CallError, headers?: HeaderBag) => Reply;

function refusal(error: CallError, headers?: HeaderBag): Reply {
  return refuse(error.view.status!, { error, ...(headers && { headers }) });
}

function failure(error: CallError, headers?: HeaderBag): Reply {
  const reply = Reply.failed(error);
  if (headers) reply.headers = headers;
  return reply;
}

function counting<R extends ClientRequest | PipeRequest>(
  site: Site<QuotaUseConfig>,
  client: (request: R) => ClientRequest,
  refused: Refuse,
  { metering, budget, weightKey }: Measured,
): Wrap<R> {
  const { quota, useOf } = quotaUse(site);
  const { disable_quota_headers: isSilent } = site.config;
  const weightOf = weightReader(site.config, limitedWarning(site.log, site.use('clock')));
  const withAllowances = (reply: Reply, verdict: Verdict): Reply => {
    if (!isSilent) writeAllowances(reply.headers, verdict);
    return reply;
  };

  /**
   * Counts the usage of a response, even if the client disconnects meanwhile. If it cannot be counted, or not within
   * the call's deadline, the client still receives the response.
   */
  const weigh = async ({ rule, caller }: Use, reply: Reply, before: Verdict, call: Call): Promise<Reply> => {
    if (!isMade(reply)) return withAllowances(reply, before);
    const counted = rule.add(caller, weightOf(reply), new Call(site.log)).catch((error: Error) => {
      site.log.error(`[Quota] a response is not counted: ${error.message}`);
      return before;
    });
    call.background(counted);
    const cancelled = Promise.withResolvers<Verdict>();
    const cancellation = call.onCancel(() => cancelled.resolve(before));
    const verdict = await Promise.race([counted, cancelled.promise]);
    cancellation.off();
    return withAllowances(reply, verdict);
  };

  const ask = async (use: Use, next: Step<R>, request: R, call: Call): Promise<Reply> => {
    let verdict: Verdict;
    try {
      verdict = await (weightKey === null ? use.rule.take(use.caller, call) : use.rule.look(use.caller, call));
    } catch (error) {
      const reply = quota.settle(error);
      return reply ? refused(error as CallError) : next(request, call);
    }
    if (verdict.retrySeconds !== null) {
      return refused(usedUp, isSilent ? undefined : writeAllowances(new HeaderBag(), verdict));
    }
    if (metering) {
      const { call: metered, opened } = metering.begin(use, call);
      const reply = await next(request, metered);
      return opened(reply) ? withAllowances(reply, verdict) : weigh(use, reply, verdict, call);
    }
    const reply = await next(request, call);
    return weightKey === null ? withAllowances(reply, verdict) : weigh(use, reply, verdict, call);
  };

  const full = (verdict: Verdict) => refused(usedUp, isSilent ? undefined : writeAllowances(new HeaderBag(), verdict));
  const spend = budget ? spending<R>(site, quota, budget, { refused, full, withAllowances }) : ask;

  return (next) => (request, call) => {
    const use = useOf(client(request), call);
    if (use === null) return next(request, call);
    return use instanceof Error ? refused(use) : spend(use, next, request, call);
  };
}
