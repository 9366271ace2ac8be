import {
  type AtEndpoint,
  atEndpoint,
  atService,
  before,
  definePlugin,
  type EndpointSite,
  findNear,
  httpSigners,
  meters,
  offer,
  tokenChecks,
} from '#contract';
import { redisConnections } from '../../clients/redis/port.ts';
import { personalHeaders } from '../../shared/http-headers/personal.ts';
import { propagation } from '../validator/propagate.ts';
import { Admission } from './admission.ts';
import { cookiePrefix, takeCookies } from './cookies.ts';
import { openProviders, type Provider, providers } from './provider.ts';
import { routesOf } from './routes.ts';
import { type EndpointConfig, endpointSchema, serviceSchema } from './schema.ts';

/**
 * Users log in at an OpenID Connect provider with their browsers. Sessions are in encrypted cookies or in Redis. Browsers
 * without a session are redirected to the login; other clients are rejected with 401, and users without the required
 * roles or scopes with 403.
 *
 * Configuration faults: `OIDC_PROVIDER`, `VALIDATOR_HEADER` and those of `openProviders`; warnings `OIDC_UNUSED`,
 * `OIDC_INSECURE`, `VALIDATOR_HEADER_UNUSED`. Error of a call: `OIDC_FAILED`.
 */
export const plugin = definePlugin({
  name: 'auth/oidc',
  description: 'Logs users in with a browser at an OpenID Connect provider, and keeps their sessions.',
  guards: true,
  leaves: ['data'],
  meaning: (_config, level) => (level === 'endpoint' ? { claims: true } : {}),
  expectsBelow: { component: 'auth/oidc', suits: () => true, called: 'auth/oidc' },
  offers: [providers, personalHeaders],
  takes: [providers, redisConnections, tokenChecks, httpSigners, meters],
  independent: true,
  places: [
    atService(serviceSchema, (site) => {
      const opened = openProviders(site);
      return {
        routes: [...opened.values()].flatMap((provider) => routesOf(site, provider)),
        offers: [offer(providers, opened)],
        eachEndpoint: ({ endpoint }) => hideSessions(endpoint.input_headers, site.config.session.cookie_name),
      };
    }),
    atEndpoint(endpointSchema, attach),
  ],
});

/** Backends of endpoints without the component do not receive the session cookies either. */
function hideSessions(forwarded: readonly string[], cookieName: string): AtEndpoint {
  if (!forwarded.some((name) => name === '*' || name.toLowerCase() === 'cookie')) return {};
  const prefix = cookiePrefix(cookieName);
  return { endpoint: before(({ headers }) => void takeCookies(headers, prefix)) };
}

function attach(site: EndpointSite<EndpointConfig>): AtEndpoint {
  const { config, endpoint } = site;
  const provider = providerOf(site);
  const claims = propagation(site);
  const sets = config.pass_access_token ? [...claims.headers, 'Authorization'] : claims.headers;
  const passing = new Set(endpoint.input_headers.map((name) => name.toLowerCase()));
  if (config.pass_access_token && !passing.has('authorization') && !passing.has('*')) {
    site.warn('OIDC_UNUSED', '/pass_access_token', 'backends do not receive Authorization', {
      hint: 'add "Authorization" to input_headers of the endpoint',
    });
  }
  const { wrap } = new Admission(site, provider, site.takeAll(tokenChecks), claims);
  return { endpoint: wrap, sets, offers: sets.length > 0 ? [offer(personalHeaders, sets)] : [] };
}

function providerOf(site: EndpointSite<EndpointConfig>): Provider {
  const declared = site.take(providers);
  if (!declared) {
    throw site.fault('OIDC_PROVIDER', '', 'no OpenID Connect provider is declared', {
      hint: 'add "auth/oidc" with "providers" at the root',
    });
  }
  const { provider: name } = site.config;
  if (name === undefined) {
    const [first] = declared.values();
    if (first && declared.size === 1) return first;
    throw site.fault('OIDC_PROVIDER', '', 'several providers are declared', {
      hint: 'set "provider" to the name of one of them',
    });
  }
  const provider = declared.get(name);
  if (provider) return provider;
  const near = findNear(name, [...declared.keys()]);
  throw site.fault('OIDC_PROVIDER', '/provider', `unknown provider "${name}"`, {
    hint: near ? `did you mean "${near.name}"?` : `one of ${[...declared.keys()].join(', ')}`,
    fix: near?.isSure ? { value: near.name } : undefined,
  });
}
