import {
  type AtBackend,
  type AtEndpoint,
  atBackend,
  atEndpoint,
  atService,
  definePlugin,
  type EndpointSite,
  type Offer,
  offer,
  type TokenCheck,
  tokenChecks,
} from '#contract';
import { backendPath, conditional, endpointPath } from '../../engines/cel/conditions.ts';
import { readsTokens, tokenComponentNames } from '../../shared/callers/token-components.ts';
import { backendTypes, outerTypes, type Phase, type Rules, readRules } from './rules.ts';
import { backendSchema, endpointSchema, serviceSchema } from './schema.ts';

/**
 * Ends calls whose conditions do not hold: requests before any backend is called, responses before they are merged or
 * sent, tokens during their validation.
 * Configuration errors: `CEL_SYNTAX`, `CEL_SIZE`, `CEL_NAME`, `CEL_FUNCTION`, `CEL_TYPE`, `CEL_NEVER`, `CEL_PATTERN`,
 * `CEL_NO_CONDITION`, `CEL_NO_TOKEN`; warning `CEL_KEY`. Error of a call: `CEL_REJECTED`.
 */
export const plugin = definePlugin({
  name: 'validation/cel',
  description: 'Rejects requests, responses and tokens that do not meet CEL conditions.',
  leaves: ['requests', 'data'],
  offers: [tokenChecks],
  independent: true,
  places: [
    atService(serviceSchema, (site) => {
      const rules = readRules(site, outerTypes);
      return {
        offers: tokenOffers(rules.token),
        eachEndpoint: (each) => ({ ...around(each, rules), ...(readsData(rules) && { readsData: 'optional' }) }),
      };
    }),
    atEndpoint(endpointSchema, (site) => {
      const rules = readRules(site, outerTypes);
      refuseWithoutTokens(site, rules);
      return { ...around(site, rules), ...(readsData(rules) && { readsData: true }), offers: tokenOffers(rules.token) };
    }),
    atBackend(backendSchema, (site) => {
      const rules = readRules(site, backendTypes);
      const raw = isRaw(site, site.endpoint.output_encoding) || isRaw(site, site.backend.encoding);
      const wrap = conditional(rules.request, rules.response, { pathOf: backendPath(site), raw });
      const attached: AtBackend = wrap ? { backend: wrap } : {};
      return readsData(rules) ? { ...attached, readsData: true } : attached;
    }),
  ],
});

function around(site: EndpointSite<unknown>, rules: Readonly<Record<Phase, Rules>>): AtEndpoint {
  const proxy = conditional(rules.request, rules.response, {
    pathOf: endpointPath,
    raw: isRaw(site, site.endpoint.output_encoding),
  });
  return proxy ? { proxy } : {};
}

function isRaw(site: EndpointSite<unknown>, encoding: string): boolean {
  return site.encoding(encoding)?.raw === true;
}

function readsData({ response }: Readonly<Record<Phase, Rules>>): boolean {
  return response.reads('resp_data');
}

const noRequest = { request: null, path: '', reply: null, raw: false } as const;

function tokenOffers(rules: Rules): readonly Offer[] {
  if (!rules.any) return [];
  const check: TokenCheck = {
    name: 'validation/cel',
    check: (claims, _request, call) => rules.check({ ...noRequest, claims }, call) === null,
  };
  return [offer(tokenChecks, check)];
}

function refuseWithoutTokens(site: EndpointSite<unknown>, rules: Readonly<Record<Phase, Rules>>): void {
  // Without a component that stores claims, conditions on tokens would never be evaluated.
  if (readsTokens(site.endpoint.extra_config)) return;
  if (!rules.token.any && !rules.request.reads('JWT') && !rules.response.reads('JWT')) return;
  throw site.fault('CEL_NO_TOKEN', '', `JWT is only available with ${tokenComponentNames}`, {
    hint: `add ${tokenComponentNames} to the endpoint, or remove the condition`,
  });
}
