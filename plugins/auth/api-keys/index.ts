// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { hash } from 'node:crypto';
import {
  type AtEndpoint,
  atEndpoint,
  atService,
  before,
  type ClientRequest,
  definePlugin,
  type EndpointSite,
  findNear,
  HeaderBag,
  isHeaderName,
  isObject,
  offer,
  type PipeRequest,
  type Reply,
  refuse,
  type EndpointConfig as ServedEndpoint,
  type Site,
} from '#contract';
import { apiKeySlot } from '../../shared/callers/api-key.ts';
import { personalHeaders } from '../../shared/http-headers/personal.ts';
import { limitedWarning } from '../../shared/logging/limited-warning.ts';
import { hideParameters } from '../../shared/parameters/hidden.ts';
import { type KeyCatalogue, keyCatalogue, openCatalogue } from './catalogue.ts';
import { keyReader } from './credential.ts';
import { keyRate } from './key-rate.ts';
import { sampleKey } from './sample.ts';
import { type EndpointConfig, endpointSchema, type ServiceConfig, type Strategy, serviceSchema } from './schema.ts';

/** Role passed to backends if the endpoint accepts any key. */
const ANY = 'ANY';

/**
 * Rejects requests without a valid key with 401, with a key that has none of the endpoint's roles with 403, and above a
 * key's rate limit with 429.
 *
 * Configuration faults: API_KEYS_MISSING, API_KEYS_IDENTIFIER, API_KEYS_HEADER and those of `openCatalogue`; warnings:
 * API_KEYS_ROLE, API_KEYS_STRATEGY and those of `openCatalogue`.
 */
export const plugin = definePlugin({
  name: 'auth/api-keys',
  description: "Requires an API key that has at least one of the endpoint's roles.",
  guards: true,
  leaves: ['data'],
  independent: true,
  expectsBelow: { component: 'auth/api-keys', suits: () => true, called: 'auth/api-keys' },
  offers: [keyCatalogue, personalHeaders],
  takes: [keyCatalogue],
  sample: sampleKey,
  places: [
    atService(serviceSchema, (site) => {
      checkService(site);
      const catalogue = openCatalogue(site);
      const { parameters } = catalogue;
      const request = before<ClientRequest>((requested, call) => {
        if (parameters.size > 0 && requested.search !== '') hideParameters(requested, call, parameters);
      });
      const learnsFrom = (endpoint: ServedEndpoint): boolean => addsParameter(site.config, endpoint);
      const readsQueries = site.config.strategy === 'query_string' || site.serving().endpoints.some(learnsFrom);
      return { ...(readsQueries && { request }), learnsFrom, offers: [offer(keyCatalogue, catalogue)] };
    }),
    atEndpoint(endpointSchema, attach),
  ],
});

function attach(site: EndpointSite<EndpointConfig>): AtEndpoint {
  const catalogue = site.take(keyCatalogue);
  if (!catalogue) {
    throw site.fault('API_KEYS_MISSING', '', 'no keys are declared: auth/api-keys is missing at the root', {
      hint: 'add "extra_config": {"auth/api-keys": {"keys": [{"key": "${KEY}", "roles": ["user"]}]}} at the root',
    });
  }
  const { roles, client_max_rate: rate } = site.config;
  const strategy = site.config.strategy ?? catalogue.strategy;
  const identifier = site.config.identifier ?? catalogue.identifier;
  checkEndpoint(site, catalogue, strategy, identifier);
  const log = site.log.at('[APIKey]');
  log.debug(`enabled, roles [${roles.join(' ')}]`);
  const warn = limitedWarning(log, site.use('clock'));
  const readKey = keyReader(strategy, identifier);
  if (strategy === 'query_string') catalogue.parameters.add(identifier);
  const isRequested = new Set(roles);
  const admit = rate ? keyRate(site, rate) : null;
  const header = catalogue.propagateRole;
  const lowerHeader = header.toLowerCase();
  const challenge = strategy === 'header' && identifier.toLowerCase() === 'authorization';
  const unauthorized = (): Reply =>
    refuse(401, challenge ? { headers: new HeaderBag(['WWW-Authenticate', 'Bearer']) } : {});
  const endpoint = before<ClientRequest>((request, call) => {
    if (header !== '') request.headers.delete(header);
    const key = readKey(request, call);
    const entry = catalogue.find(key);
    if (!entry) {
      warn(() => `rejected: ${key === '' ? 'no API key' : 'unknown API key'}`);
      return unauthorized();
    }
    const role = isRequested.size === 0 ? ANY : entry.roles.find((one) => isRequested.has(one));
    if (role === undefined) {
      warn(() => `rejected: the key ${hash('sha256', key).slice(0, 8)} has none of the required roles`);
      return refuse(403);
    }
    if (header !== '') request.headers.set(header, role);
    call.set(apiKeySlot, entry.id);
    return admit?.(entry.id);
  });
  const credentials = [identifier];
  if (header === '') return { endpoint, credentials };
  // Sets the header after the filter of the endpoint, so that backends receive it even if `input_headers` does not list
  // it.
  const proxy = before<PipeRequest>((request) => {
    const role = request.client.headers.get(lowerHeader);
    if (role !== undefined) request.headers.set(header, role);
  });
  return { endpoint, proxy, credentials, sets: [header], offers: [offer(personalHeaders, [header])] };
}

/** Whether an endpoint adds a query parameter that contains keys and must be hidden in the whole service. */
function addsParameter({ strategy: ofService }: ServiceConfig, { extra_config: components }: ServedEndpoint): boolean {
  const own = Object.hasOwn(components, 'auth/api-keys') ? components['auth/api-keys'] : undefined;
  if (!isObject(own)) return false;
  const { strategy = ofService, identifier } = own;
  // The service already hides its own parameter, so only additional ones need to be hidden.
  return strategy === 'query_string' && (ofService !== 'query_string' || identifier !== undefined);
}

function checkService(site: Site<ServiceConfig>): void {
  const { strategy, identifier, propagate_role: header } = site.config;
  if (identifier !== undefined) checkIdentifier(site, strategy, identifier);
  if (header !== '' && !isHeaderName(header)) {
    throw site.fault('API_KEYS_HEADER', '/propagate_role', `"${header}" is not a valid header name`);
  }
}

function checkEndpoint(
  site: EndpointSite<EndpointConfig>,
  catalogue: KeyCatalogue,
  strategy: Strategy,
  identifier: string,
): void {
  const { roles, strategy: own, identifier: named } = site.config;
  if (own !== undefined && own !== catalogue.strategy && named === undefined) {
    site.warn(
      'API_KEYS_STRATEGY',
      '/strategy',
      `the key is read from "${identifier}", the identifier at the service level`,
      {
        hint: own === 'header' ? '"identifier": "Authorization"' : '"identifier": "key"',
      },
    );
  }
  checkIdentifier(site, strategy, identifier);
  if (catalogue.isEmpty) return;
  for (const [index, role] of roles.entries()) {
    if (catalogue.roles.has(role)) continue;
    const near = findNear(role, [...catalogue.roles]);
    site.warn('API_KEYS_ROLE', `/roles/${index}`, `no key has the role "${role}"`, {
      hint: near && `did you mean "${near.name}"?`,
    });
  }
}

function checkIdentifier(site: Site<unknown>, strategy: Strategy, identifier: string): void {
  if (strategy === 'query_string' || isHeaderName(identifier)) return;
  throw site.fault('API_KEYS_IDENTIFIER', '/identifier', `"${identifier}" is not a valid header name`);
}
