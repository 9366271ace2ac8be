import {
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
import { attachConditions, backendPath, endpointPath } from '../../engines/cel/conditions.ts';
import { readsTokens, tokenComponentNames } from '../../shared/callers/token-components.ts';
import { hasMessages } from '../../shared/replies/on-data.ts';
import { backendTypes, outerTypes, type Phase, type Rules, readRules } from './rules.ts';
import { backendSchema, endpointSchema, serviceSchema } from './schema.ts';

/**
 * Ends calls whose conditions do not hold: requests before any backend is called, responses before they are merged or
 * sent, tokens during their validation. Drops messages of a stream whose data does not meet the conditions on it.
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
        eachEndpoint: (each) => {
          const attached = around(each, rules);
          return attached.readsData ? { ...attached, readsData: attached.message ? true : 'optional' } : attached;
        },
      };
    }),
    atEndpoint(endpointSchema, (site) => {
      const rules = readRules(site, outerTypes);
      refuseWithoutTokens(site, rules);
      return { ...around(site, rules), offers: tokenOffers(rules.token) };
    }),
    atBackend(backendSchema, (site) => {
      const rules = readRules(site, backendTypes);
      const raw = isRaw(site, site.endpoint.output_encoding) || isRaw(site, site.backend.encoding);
      const stance = { pathOf: backendPath(site), raw };
      const { wrap, ...more } = attachConditions(rules.request, rules.response, stance, hasMessages(site));
      return { ...more, ...(wrap && { backend: wrap }) };
    }),
  ],
});

function around(site: EndpointSite<unknown>, rules: Readonly<Record<Phase, Rules>>): AtEndpoint {
  const stance = { pathOf: endpointPath, raw: isRaw(site, site.endpoint.output_encoding) };
  const { wrap, ...more } = attachConditions(rules.request, rules.response, stance, hasMessages(site));
  return { ...more, ...(wrap && { proxy: wrap }) };
}

function isRaw(site: EndpointSite<unknown>, encoding: string): boolean {
  return site.encoding(encoding)?.raw === true;
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
  // Warns if no component stores claims, because conditions on tokens would never be evaluated.
  if (readsTokens(site.endpoint.extra_config)) return;
  if (!rules.token.any && !rules.request.reads('JWT') && !rules.response.reads('JWT')) return;
  throw site.fault('CEL_NO_TOKEN', '', `JWT is only available with ${tokenComponentNames}`, {
    hint: `add ${tokenComponentNames} to the endpoint, or remove the condition`,
  });
}
