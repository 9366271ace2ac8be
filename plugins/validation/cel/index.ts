import {
  type AtBackend,
  type AtEndpoint,
  atBackend,
  atEndpoint,
  atService,
  type BackendSite,
  type Call,
  claimsSlot,
  definePlugin,
  discard,
  type EndpointSite,
  type Offer,
  offer,
  type PipeRequest,
  Reply,
  type TokenCheck,
  tokenChecks,
  type Wrap,
} from '#contract';
import { Variables } from '../../services/cel/variables.ts';
import { backendTypes, outerTypes, type Phase, type Rules, readRules } from './rules.ts';
import { backendSchema, endpointSchema, serviceSchema } from './schema.ts';

/** Who asks about tokens: without it, conditions on them would never be looked at. */
const asksAboutTokens = 'auth/validator';

/**
 * Ends calls for which a condition does not hold: requests before anything is spent on backends, responses before they are
 * merged or sent, tokens while they are validated.
 *
 * Faults of the configuration: `CEL_SYNTAX`, `CEL_SIZE`, `CEL_NAME`, `CEL_FUNCTION`, `CEL_TYPE`, `CEL_NEVER`,
 * `CEL_PATTERN`, `CEL_NO_CONDITION`, `CEL_NO_TOKEN`; warning `CEL_KEY`. Error of a call: `CEL_REJECTED`.
 */
export const plugin = definePlugin({
  name: 'validation/cel',
  description: 'Ends calls whose request, response or token does not meet conditions.',
  leaves: ['requests', 'data'],
  offers: [tokenChecks],
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
      const wrap = checking(rules, backendPath(site), raw);
      const attached: AtBackend = wrap ? { backend: wrap } : {};
      return readsData(rules) ? { ...attached, readsData: true } : attached;
    }),
  ],
});

function around(site: EndpointSite<unknown>, rules: Readonly<Record<Phase, Rules>>): AtEndpoint {
  const proxy = checking(rules, ({ client }) => decoded(client.path), isRaw(site, site.endpoint.output_encoding));
  return proxy ? { proxy } : {};
}

function isRaw(site: EndpointSite<unknown>, encoding: string): boolean {
  return site.encoding(encoding)?.raw === true;
}

function readsData({ response }: Readonly<Record<Phase, Rules>>): boolean {
  return response.reads('resp_data');
}

type PathOf = (request: PipeRequest) => string;

/** Looks at the request before the rest of the pipe, and at what comes back, unless that is a failure or a refusal. */
function checking({ request: before, response: after }: Readonly<Record<Phase, Rules>>, pathOf: PathOf, raw: boolean) {
  if (!before.any && !after.any) return undefined;
  const readsRequest = after.reads('req_');
  const readsPath = before.reads('req_path') || after.reads('req_path');
  const wrap: Wrap<PipeRequest> = (next) => {
    const respond = (reply: Reply, request: PipeRequest | null, path: string, call: Call): Reply => {
      if (isRefusal(reply)) return reply;
      const error = after.check(new Variables({ request, path, reply, raw, claims: call.get(claimsSlot) }), call);
      if (!error) return reply;
      discard(reply.body);
      return Reply.failed(error);
    };
    return (request, call) => {
      const path = readsPath ? pathOf(request) : '';
      if (before.any) {
        const error = before.check(
          new Variables({ request, path, reply: null, raw, claims: call.get(claimsSlot) }),
          call,
        );
        if (error) return Reply.failed(error);
      }
      if (!after.any) return next(request, call);
      // What stands inside may change the request.
      const seen = readsRequest ? request.copy() : null;
      const reply = next(request, call);
      if (!(reply instanceof Promise)) return respond(reply, seen, path, call);
      return reply.then((settled) => respond(settled, seen, path, call));
    };
  };
  return wrap;
}

/** Nothing came back that there is to look at. */
function isRefusal(reply: Reply): boolean {
  return reply.failed || reply.skipped || (reply.complete === null && reply.data === null && reply.body === null);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** What the backend is asked for: its own path, with the query that stands in its configuration. */
function backendPath({ backend }: BackendSite<unknown>): PathOf {
  const bases = backend.host.map((host) => /^[a-z]+:\/\/[^/]*(\/.*?)\/?$/i.exec(host)?.[1] ?? '').filter(Boolean);
  return ({ target, query }) => {
    const base = bases.find((path) => target.startsWith(`${path}/`)) ?? '';
    const path = target.slice(base.length);
    return query.size > 0 && path.includes('?') ? path.slice(0, path.indexOf('?')) : path;
  };
}

const noRequest = { request: null, path: '', reply: null, raw: false } as const;

function tokenOffers(rules: Rules): readonly Offer[] {
  if (!rules.any) return [];
  const check: TokenCheck = {
    name: 'validation/cel',
    check: (claims, _request, call) => rules.check(new Variables({ ...noRequest, claims }), call) === null,
  };
  return [offer(tokenChecks, check)];
}

function refuseWithoutTokens(site: EndpointSite<unknown>, rules: Readonly<Record<Phase, Rules>>): void {
  if (Object.hasOwn(site.endpoint.extra_config, asksAboutTokens)) return;
  if (!rules.token.any && !rules.request.reads('JWT') && !rules.response.reads('JWT')) return;
  throw site.fault('CEL_NO_TOKEN', '', 'JWT is there only beside "auth/validator"', {
    hint: 'add "auth/validator" to the endpoint, or leave the condition out',
  });
}
