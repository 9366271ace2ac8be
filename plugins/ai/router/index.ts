import {
  type AtBackend,
  atBackend,
  type BackendSite,
  CallError,
  type DataObject,
  definePlugin,
  meters,
  type PipeRequest,
  Reply,
  type Step,
  toCallError,
} from '#contract';
import { readBody } from '../../engines/templates/read-body.ts';
import { limitedWarning } from '../../shared/logging/limited-warning.ts';
import { classifiersPort } from '../lib/classifiers.ts';
import { declaredProviders } from '../lib/providers.ts';
import { callInOrder, type Policy } from './attempts.ts';
import type { Candidate } from './candidate.ts';
import { expandRouters } from './expand.ts';
import { Health } from './health.ts';
import { measuresOf } from './measures.ts';
import { referencesIn } from './references.ts';
import { candidatesNamed, compileRoutes } from './routes.ts';
import { type RouterConfig, schema, streamEncodings } from './schema.ts';

/**
 * Calls one of the declared providers: the first route whose gates pass selects it, directly, by a strategy or by a
 * classifier. If a provider fails before its response has begun, the next one is tried.
 *
 * Configuration faults: `ROUTER_PROVIDER`, `ROUTER_ROUTE`, `ROUTER_GATE`, `ROUTER_CLASSIFIER`, `ROUTER_TARGET`,
 * `ROUTER_OUTPUT`; warnings `ROUTER_TARGET`, `LLM_FORMAT`, `TIMEOUT_UNUSED`. Call errors: `ROUTER_UNMATCHED`, `ROUTER_TIMEOUT`, `ROUTER_EMPTY`.
 */
export const plugin = definePlugin({
  name: 'ai/router',
  description: 'Chooses a provider of language models for each request, and tries the next one if it fails.',
  requires: ['ai/providers'],
  hostless: true,
  freeKeys: true,
  convert: expandRouters,
  becomes: ['ai/llm', 'encoding/sse', 'encoding/eventstream', 'encoding/streaming'],
  takes: [classifiersPort, declaredProviders, meters],
  places: [atBackend(schema, (site) => attach(site as unknown as BackendSite<RouterConfig>))],
});

const unmatched = new CallError('ROUTER_UNMATCHED', 'the request matches no route of the router');

function attach(site: BackendSite<RouterConfig>): AtBackend {
  const streams = streamEncodings.has(site.endpoint.output_encoding);
  if (!streams && site.encoding(site.endpoint.output_encoding)?.raw) {
    throw site.fault('ROUTER_OUTPUT', '', `ai/router cannot respond with ${site.endpoint.output_encoding}`, {
      hint: 'Set "output_encoding" to "streaming" or "json".',
    });
  }
  const { config } = site;
  warnOfUnused(site, streams);
  const candidates = candidatesOf(site);
  const context = {
    site,
    candidates,
    declared: site.take(classifiersPort),
    warn: limitedWarning(site.log, site.use('clock')),
  };
  const failover = candidatesNamed(candidates, config.failover ?? []);
  const select = compileRoutes(context, config.routes, failover);
  const clock = site.use('clock');
  const policy: Policy = {
    statuses: new Set(config.failover_status_codes),
    attemptTimeoutMs: config.attempt_timeout,
    cooldownMs: config.cooldown,
    showsProvider: !config.disable_provider_headers,
    measures: measuresOf(site),
    now: () => clock.now(),
  };
  const call: Step<PipeRequest> = async (request, outer) => {
    const body = await readBody(request.body);
    if (body instanceof CallError) return Reply.failed(body);
    try {
      const selected = await select({ request, body: body ?? undefined, call: outer, now: policy.now() });
      if (selected === null) return Reply.failed(unmatched);
      return await callInOrder(selected, { request, body }, outer, policy);
    } catch (error) {
      return Reply.failed(toCallError(error));
    }
  };
  return { protocol: { call, hostless: true, ...(streams ? { streams: true } : { replies: 'data' }) } };
}

/** Warns of settings without effect. Codes: warnings LLM_FORMAT, TIMEOUT_UNUSED and ROUTER_TARGET. */
function warnOfUnused({ config, endpoint, warn }: BackendSite<RouterConfig>, streams: boolean): void {
  const { attempt_timeout: attemptMs, format, targets = [] } = config;
  if (format !== undefined && !streams) {
    warn('LLM_FORMAT', '/format', 'format has no effect: the endpoint does not stream', {
      hint: 'Set "output_encoding" to "streaming".',
    });
  }
  if (attemptMs !== undefined && attemptMs >= endpoint.timeout) {
    const message = `the timeout never applies: the surrounding endpoint times out after ${endpoint.timeout}ms`;
    warn('TIMEOUT_UNUSED', '/attempt_timeout', message);
  }
  const used = new Set(Array.from(referencesIn(config as unknown as DataObject, ''), ([name]) => name));
  for (const [index, { provider }] of targets.entries()) {
    if (used.has(provider)) continue;
    warn('ROUTER_TARGET', `/targets/${index}/provider`, `the target is never called: no route names "${provider}"`);
  }
}

function candidatesOf(site: BackendSite<RouterConfig>): ReadonlyMap<string, Candidate> {
  const facts = site.take(declaredProviders);
  const candidates = new Map<string, Candidate>();
  for (const [index, { provider: name }] of (site.config.targets ?? []).entries()) {
    if (candidates.has(name)) {
      throw site.fault('ROUTER_TARGET', `/targets/${index}/provider`, `duplicate target of provider "${name}"`);
    }
    const { vendor = '', model = '', price } = facts?.get(name) ?? {};
    const health = site.keep(['provider', name], () => new Health());
    const sum = price ? price.input + price.output : Number.POSITIVE_INFINITY;
    candidates.set(name, { name, vendor, model, price: sum, health, call: site.pipe(`/targets/${index}`) });
  }
  return candidates;
}
