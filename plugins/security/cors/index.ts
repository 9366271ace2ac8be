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
import { type AllowedOrigins, allowedOrigins } from '../../shared/ports/allowed-origins.ts';
import { dress } from './dress.ts';
import { checkConfig } from './findings.ts';
import { originTest } from './origins.ts';
import { ACTUAL_VARY, compilePolicy, type HeaderList, type Note, type Policy } from './policy.ts';
import { type CorsConfig, schema, serviceSchema } from './schema.ts';

/** CORS policies of the endpoints that have one, kept for as long as a configuration uses them. */
export class EndpointPolicies {
  readonly #policies = new WeakMap<EndpointConfig, Policy>();
  /** False until an endpoint has a policy; the endpoint of a request is not looked up before that. */
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
 * Port by which endpoints report their CORS policies to the root. The root also handles the preflight requests of
 * endpoints, because these are handled before their endpoint is looked up.
 */
export const endpointPolicies = definePort<EndpointPolicies>('CORS policies of endpoints', { from: 'security/cors' });

/**
 * Wraps all responses. An endpoint's policy replaces the service's for its path and method, as requested by the client.
 * WebSockets, which browsers open from any page, are rejected here for origins that are not allowed.
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
      // The component is attached to endpoints that serve clients, although the root does the work, so that it is
      // rejected at all other places.
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
      hint: 'set "allow_origins" to a list such as ["https://example.com"], or to ["*"] for every site',
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
