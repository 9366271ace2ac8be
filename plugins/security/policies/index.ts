import {
  atBackend,
  atEndpoint,
  definePlugin,
  type EndpointSite,
  findNear,
  joinPointer,
  type Offer,
  offer,
  type Site,
  type TokenCheck,
  tokenChecks,
} from '#contract';
import { attachConditions, backendPath, endpointPath } from '../../engines/cel/conditions.ts';
import type { CelType } from '../../engines/cel/language/types.ts';
import { requestMacros } from '../../engines/cel/macros.ts';
import { requestTypes, responseTypes } from '../../engines/cel/variables.ts';
import { compileWritten } from '../../engines/cel/written-expression.ts';
import { readsTokens, tokenComponentNames } from '../../shared/callers/token-components.ts';
import { geoLocations } from '../../shared/ports/geo.ts';
import { hasMessages } from '../../shared/replies/on-data.ts';
import { Policies, type PolicySettings } from './policies.ts';
import { type Block, backendSchema, endpointSchema, type PoliciesConfig } from './schema.ts';

const errorFields = ['status', 'body', 'content_type'];

/** Limits of one evaluation. */
const budget = { steps: 100_000, cpuMs: 10 };

const now = { now: 'string' } as const;
const claims: Readonly<Record<string, CelType>> = { JWT: { key: 'string', value: 'dyn' } };
const request: Readonly<Record<string, CelType>> = { ...now, ...requestTypes, req_body: 'string' };
const response: Readonly<Record<string, CelType>> = { ...now, ...requestTypes, ...responseTypes };

/**
 * Ends calls that violate a policy: requests before they continue, responses before they are returned, tokens during
 * validation. An error in a policy counts as a violation. Drops messages of a stream whose data violates a policy.
 *
 * Configuration errors: those of `compileExpression`, `POLICY_NONE`, `POLICY_NO_TOKEN`, `POLICY_NO_REQUEST`,
 * `POLICY_NO_GEOIP`, `POLICY_FIELD`; warnings `CEL_KEY`, `POLICY_UNUSED`. Error of a call: `POLICY_FAILED`.
 */
export const plugin = definePlugin({
  name: 'security/policies',
  description: 'Rejects requests, responses and tokens that violate policies.',
  guards: true,
  leaves: ['requests', 'data'],
  offers: [tokenChecks],
  takes: [geoLocations],
  places: [
    atEndpoint(endpointSchema, (site) => {
      const hasTokens = readsTokens(site.endpoint.extra_config);
      if (site.config.jwt && !hasTokens) {
        site.warn('POLICY_UNUSED', '/jwt', `policies on tokens have no effect without ${tokenComponentNames}`, {
          hint: `add ${tokenComponentNames} to the endpoint, or remove "jwt"`,
        });
      }
      const raw = isRaw(site, site.endpoint.output_encoding);
      const { before, after } = readBlocks(site, claims, hasTokens);
      const { wrap, ...more } = attachConditions(before, after, { pathOf: endpointPath, raw }, hasMessages(site));
      return { ...more, ...(wrap && { proxy: wrap }), offers: tokenOffers(site) };
    }),
    atBackend(backendSchema, (site) => {
      const raw = isRaw(site, site.endpoint.output_encoding) || isRaw(site, site.backend.encoding);
      const { before, after } = readBlocks(site, {}, false);
      const stance = { pathOf: backendPath(site), raw };
      const { wrap, ...more } = attachConditions(before, after, stance, hasMessages(site));
      return { ...more, ...(wrap && { backend: wrap }) };
    }),
  ],
});

function isRaw(site: EndpointSite<unknown>, encoding: string): boolean {
  return site.encoding(encoding)?.raw === true;
}

/** @param more additional variables that may be read. */
function readBlocks(
  site: Site<PoliciesConfig>,
  more: Readonly<Record<string, CelType>>,
  hasTokens: boolean,
): { before: Policies; after: Policies } {
  const { req, resp, jwt } = site.config;
  if (!req && !resp && !jwt)
    throw site.fault('POLICY_NONE', '', 'no policies are configured', { hint: 'add "req" or "resp"' });
  const before = readBlock(site, 'req', req, { ...request, ...more });
  const after = readBlock(site, 'resp', resp, { ...response, ...more });
  for (const [name, block] of Object.entries({ req: before, resp: after })) {
    if (hasTokens || !block.reads('JWT')) continue;
    throw site.fault('POLICY_NO_TOKEN', `/${name}`, `JWT is only available with ${tokenComponentNames}`, {
      hint: `add ${tokenComponentNames} to the endpoint, or remove the policy`,
    });
  }
  return { before, after };
}

function readBlock(
  site: Site<PoliciesConfig>,
  name: 'req' | 'resp' | 'jwt',
  block: Pick<Block, 'policies' | 'error'> | undefined,
  types: Readonly<Record<string, CelType>>,
): Policies {
  const { config } = site;
  const known = new Map(Object.entries(types));
  const macros = !config.disable_macros && !config.disable_advanced_macros;
  const expressions = (block?.policies ?? []).map((source, index) => {
    const pointer = `/${name}/policies/${index}`;
    const expression = compileWritten(site, source, pointer, known, { macros, budget });
    if (name === 'jwt') refuseRequestMacros(site, expression.calls, pointer);
    if (expression.calls.has('geoIP') && !site.take(geoLocations)) {
      throw site.fault('POLICY_NO_GEOIP', pointer, 'geoIP() requires a geolocation database', {
        hint: 'add "plugin/http-server": {"name": ["geoip"], "geoip": {"citydb_path": "GeoLite2-City.mmdb"}} at the root',
      });
    }
    return expression;
  });
  const locate = expressions.some(({ calls }) => calls.has('geoIP')) ? site.take(geoLocations) : undefined;
  checkFields(site, name, block?.error);
  const settings: PolicySettings = {
    log: site.log.at('[Policies]'),
    locate,
    joined: config.auto_join_policies,
    debug: config.debug,
  };
  const policies = expressions.map((expression, index) => ({ index, expression }));
  return new Policies(policies, settings, block?.error);
}

/** Unknown members of `error` have no effect and are allowed, unless they resemble one of its fields. */
function checkFields(site: Site<unknown>, name: string, error: object = {}): void {
  for (const field of Object.keys(error)) {
    if (errorFields.includes(field) || /^[@$_#]/.test(field)) continue;
    const pointer = joinPointer(`/${name}/error`, field);
    const near = findNear(field, errorFields);
    if (near) {
      const fix = near.isSure ? { key: near.name } : undefined;
      throw site.fault('POLICY_FIELD', pointer, `unknown field '${field}'`, {
        hint: `did you mean "${near.name}"?`,
        fix,
      });
    }
    site.warn('POLICY_UNUSED', pointer, `"error" has no field '${field}', which has no effect`);
  }
}

/** Token policies must not depend on the request: the claims of a token are the same in every request. */
function refuseRequestMacros(site: Site<unknown>, calls: ReadonlySet<string>, pointer: string): void {
  const name = [...calls].find((call) => requestMacros.has(call));
  if (name === undefined) return;
  throw site.fault(
    'POLICY_NO_REQUEST',
    pointer,
    `${name}() reads the request, which is not available to token policies`,
    {
      hint: 'move the policy to "req"',
    },
  );
}

function tokenOffers(site: EndpointSite<PoliciesConfig>): readonly Offer[] {
  const policies = readBlock(site, 'jwt', site.config.jwt, { ...now, ...claims });
  if (!policies.any) return [];
  const none = { request: null, path: '', reply: null, raw: false };
  const check: TokenCheck = {
    name: 'security/policies',
    check: (token, _request, call) => policies.check({ ...none, claims: token }, call) === null,
  };
  return [offer(tokenChecks, check)];
}
