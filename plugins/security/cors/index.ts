import {
  atEndpoint,
  atService,
  type ClientRequest,
  definePlugin,
  definePort,
  type EndpointConfig,
  HeaderBag,
  offer,
  refuse,
  type Site,
  type Wrap,
} from '#contract';
import { type AllowedOrigins, allowedOrigins } from '../../services/allowed-origins.ts';
import { dress } from './dress.ts';
import { checkConfig } from './findings.ts';
import { originTest } from './origins.ts';
import { ACTUAL_VARY, compilePolicy, type HeaderList, type Note, type Policy } from './policy.ts';
import { type CorsConfig, schema, serviceSchema } from './schema.ts';

/** The policies of the endpoints that have one of their own, for as long as somebody has these. */
export class EndpointPolicies {
  readonly #policies = new WeakMap<EndpointConfig, Policy>();
  /** Where no endpoint has had one, nobody looks for the endpoint of a request. */
  isUsed = false;

  set(endpoint: EndpointConfig, policy: Policy): void {
    this.#policies.set(endpoint, policy);
    this.isUsed = true;
  }

  get(endpoint: EndpointConfig): Policy | undefined {
    return this.#policies.get(endpoint);
  }
}

/**
 * Preflights are answered before any endpoint is looked for, so what stands at the root answers those of endpoints too,
 * also where the root has no policy.
 */
export const endpointPolicies = definePort<EndpointPolicies>('CORS policies of endpoints', { from: 'security/cors' });

/**
 * Stands around everything that is answered. The policy of an endpoint takes the place of the service's for its path and
 * method, as the client asks for them. WebSockets, which browsers open from any page, are refused here to pages of origins that
 * are not allowed.
 */
export const plugin = definePlugin({
  name: 'security/cors',
  description: 'Enables cross-origin requests from browsers (CORS): answers preflights and sends CORS headers.',
  leaves: ['requests', 'data'],
  independent: true,
  offers: [endpointPolicies, allowedOrigins],
  takes: [endpointPolicies],
  places: [
    atService(serviceSchema, (site) => {
      const own = new EndpointPolicies();
      const policy = site.isNamed ? servicePolicy(site) : null;
      const origins = policy ? [offer(allowedOrigins, originsOf(site))] : [];
      return { request: around(policy, own), offers: [offer(endpointPolicies, own), ...origins] };
    }),
    atEndpoint(schema, (site) => {
      site.take(endpointPolicies)?.set(site.endpoint, policyOf(site));
      // For clients alone, though the work is done at the root: where there are none it is refused.
      return { endpoint: (next) => next, offers: [offer(allowedOrigins, originsOf(site))] };
    }),
  ],
});

function originsOf({ config }: Site<CorsConfig>): AllowedOrigins {
  const isAllowed = originTest(config.allow_origins ?? []);
  return { has: (origin) => isAllowed === null || isAllowed(origin) };
}

/** @throws ConfigError CORS_ORIGINS. */
function servicePolicy(site: Site<CorsConfig>): Policy {
  if (site.config.allow_origins === undefined) {
    throw site.fault('CORS_ORIGINS', '', 'allow_origins is missing', {
      hint: '"allow_origins": ["https://example.com"], or ["*"] for every site',
    });
  }
  return policyOf(site);
}

function policyOf(site: Site<CorsConfig>): Policy {
  checkConfig(site);
  return compilePolicy(site.config, site.config.debug ? noteTo(site) : null);
}

function noteTo({ log }: Site<CorsConfig>): Note {
  return (request, decision) => {
    const { method, path, headers } = request;
    const of = `${isPreflight(request) ? 'preflight' : method} ${path} from ${headers.get('origin') ?? 'no origin'}`;
    log.debug(() => `[CORS] ${JSON.stringify(of.slice(0, 512))}: ${decision ?? 'allowed'}`);
  };
}

function isPreflight({ method, headers }: ClientRequest): boolean {
  return method === 'OPTIONS' && !!headers.get('access-control-request-method');
}

function ownPolicy(own: EndpointPolicies, request: ClientRequest, isAsking: boolean): Policy | undefined {
  const endpoint = request.match(isAsking ? request.headers.get('access-control-request-method') : undefined);
  return endpoint ? own.get(endpoint) : undefined;
}

const none: HeaderList = Object.freeze([]);

function around(service: Policy | null, own: EndpointPolicies): Wrap<ClientRequest> {
  return (next) => (request, call) => {
    const isAsking = isPreflight(request);
    const policy = !own.isUsed ? service : (ownPolicy(own, request, isAsking) ?? service);
    if (!policy) return next(request, call);
    const decision = isAsking ? policy.preflight(request) : policy.actual(request);
    const isRefused = typeof decision === 'string';
    policy.note?.(request, isRefused ? decision : null);
    const headers = isRefused ? none : decision;
    const vary = isAsking ? policy.preflightVary : ACTUAL_VARY;
    if (isAsking && !policy.passesOn) return dress(refuse(policy.status, { headers: new HeaderBag() }), headers, vary);
    if (policy.refusesSocket(request)) return dress(refuse(403), none, ACTUAL_VARY);
    const reply = next(request, call);
    return reply instanceof Promise
      ? reply.then((settled) => dress(settled, headers, vary))
      : dress(reply, headers, vary);
  };
}
