import {
  type AtEndpoint,
  atEndpoint,
  atService,
  before,
  definePlugin,
  type EndpointSite,
  httpSigners,
  isHeaderName,
  meters,
  offer,
  tokenChecks,
} from '#contract';
import { personalHeaders } from '../../shared/http-headers/personal.ts';
import { propagation } from '../validator/propagate.ts';
import { Admission } from './admission.ts';
import { type Introspector, introspectors, openIntrospector } from './introspector.ts';
import { endpointSchema, type IntrospectionConfig, serverFieldNames, serviceSchema } from './schema.ts';

/**
 * Rejects requests without an active token with 401, and tokens without the required roles or scopes with 403. Stores
 * the response of the authorization server on the call, as the claims of the token.
 *
 * Configuration faults: `INTROSPECTION_SERVER`, `INTROSPECTION_HEADER`, `VALIDATOR_HEADER`, and those of
 * `openIntrospector`; warnings `INTROSPECTION_UNUSED`, `INTROSPECTION_INSECURE`, `VALIDATOR_HEADER_UNUSED`. Error of a
 * call: `INTROSPECTION_FAILED`.
 */
export const plugin = definePlugin({
  name: 'auth/introspection',
  description: 'Requires an access token that the authorization server confirms (RFC 7662).',
  guards: true,
  leaves: ['data'],
  meaning: (_config, level) => (level === 'endpoint' ? { claims: true } : {}),
  expectsBelow: { component: 'auth/introspection', suits: () => true, called: 'auth/introspection' },
  offers: [introspectors, personalHeaders],
  takes: [introspectors, tokenChecks, httpSigners, meters],
  independent: true,
  places: [
    atService(serviceSchema, (site) => ({ offers: [offer(introspectors, openIntrospector(site, site.config))] })),
    atEndpoint(endpointSchema, attach),
  ],
});

function attach(site: EndpointSite<IntrospectionConfig>): AtEndpoint {
  checkFields(site);
  const introspector = introspectorOf(site);
  const claims = propagation(site);
  const { admit } = new Admission(site, introspector, site.takeAll(tokenChecks), claims);
  const offers = claims.headers.length > 0 ? [offer(personalHeaders, claims.headers)] : [];
  return {
    endpoint: before(admit),
    sets: claims.headers,
    credentials: [site.config.auth_header_name, site.config.query_key].filter((name) => name !== ''),
    offers,
  };
}

function introspectorOf(site: EndpointSite<IntrospectionConfig>): Introspector {
  const { config } = site;
  const { introspection_url: url } = config;
  if (url !== undefined) return openIntrospector(site, { ...config, introspection_url: url });
  const unused = serverFieldNames.find((name) => config[name] !== undefined);
  if (unused) {
    throw site.fault('INTROSPECTION_SERVER', `/${unused}`, `${unused} has no effect without introspection_url`, {
      hint: 'add introspection_url, or set the field in auth/introspection at the root',
    });
  }
  const ofService = site.take(introspectors);
  if (ofService) return ofService;
  throw site.fault('INTROSPECTION_SERVER', '', 'no authorization server is configured', {
    hint: 'set "introspection_url", "client_id" and "client_secret", here or in auth/introspection at the root',
  });
}

/** Checks for invalid values, and warns of settings that have no effect. */
function checkFields(site: EndpointSite<IntrospectionConfig>): void {
  const { config } = site;
  if (!isHeaderName(config.auth_header_name)) {
    throw site.fault('INTROSPECTION_HEADER', '/auth_header_name', 'auth_header_name is not a valid header name');
  }
  const unused = (name: string, without: string) =>
    site.warn('INTROSPECTION_UNUSED', `/${name}`, `${name} has no effect ${without}`);
  if (config.scopes.length === 0 && config.scopes_key !== 'scope') unused('scopes_key', 'without scopes');
  if (config.roles.length === 0 && config.roles_key !== 'roles') unused('roles_key', 'without roles');
  if (config.roles_key_is_nested && !config.roles_key.includes('.')) {
    unused('roles_key_is_nested', 'if roles_key contains no dots');
  }
  if (config.propagate_claims_preserve_array && config.propagate_claims.length === 0) {
    unused('propagate_claims_preserve_array', 'without propagate_claims');
  }
}
