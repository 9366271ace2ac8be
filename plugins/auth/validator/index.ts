import {
  atEndpoint,
  before,
  definePlugin,
  type EndpointSite,
  httpSigners,
  isHeaderName,
  offer,
  refuse,
  tokenChecks,
} from '#contract';
import { algorithm } from '../../clients/keys/algorithms.ts';
import { checkKeyFields } from '../../clients/keys/check-fields.ts';
import { keyAggregators } from '../../clients/keys/key-aggregator.ts';
import { openKeys } from '../../clients/keys/keys.ts';
import { personalHeaders } from '../../shared/http-headers/personal.ts';
import { propagation } from './propagate.ts';
import { sampleToken } from './sample.ts';
import { schema, type ValidatorConfig } from './schema.ts';
import { DEFAULT_SECONDS, sharedAge, sharedCache, usersOfSharedCache } from './shared-cache.ts';
import { Validation } from './validate.ts';

/**
 * Rejects requests without a valid token with 401, and tokens without the required roles or scopes with 403. Stores the
 * claims on the call.
 *
 * Configuration faults: `VALIDATOR_CACHE`, `VALIDATOR_SCOPES`, `VALIDATOR_DURATION`, `VALIDATOR_HEADER`,
 * `VALIDATOR_KEYS`, and those of `checkKeyFields` and `openKeys`; warnings `VALIDATOR_UNUSED`, `VALIDATOR_WEAK_KEY`,
 * `VALIDATOR_HEADER_UNUSED`.
 */
export const plugin = definePlugin({
  name: 'auth/validator',
  description: 'Requires a valid signed JSON Web Token (JWT).',
  guards: true,
  oldFields: { 'jwk-url': 'jwk_url', 'propagate-claims': 'propagate_claims' },
  leaves: ['data'],
  meaning: (_config, level) => (level === 'endpoint' ? { claims: true } : {}),
  expectsBelow: usersOfSharedCache,
  offers: [personalHeaders, sharedAge],
  takes: [httpSigners, keyAggregators, sharedAge, tokenChecks],
  independent: true,
  sample: sampleToken,
  places: [
    sharedCache,
    atEndpoint(schema, (site) => {
      checkFields(site);
      const { config } = site;
      const log = site.log.at('[JWTValidator]');
      const ownAge = (config.cache_duration || DEFAULT_SECONDS) * 1000;
      const keys = openKeys(site, config, {
        strategy: config.key_identify_strategy,
        maxAgeMs: config.cache ? Math.max(ownAge, site.take(sharedAge) ?? 0) : null,
        cooldownMs: config.failed_jwk_key_cooldown,
      });
      const claims = propagation(site);
      if (!keys) {
        log.warning('Unable to parse the configuration: jwk_url is not secure');
        return { endpoint: before(() => refuse(401)), terminal: true };
      }
      warnOfWeakKeys(site, keys.all());
      report(site, log);
      const validation = new Validation(site, keys, site.takeAll(tokenChecks), claims, log);
      const offers = claims.headers.length > 0 ? [offer(personalHeaders, claims.headers)] : [];
      return {
        endpoint: before(validation.admit),
        sets: claims.headers,
        credentials: [config.auth_header_name],
        offers,
      };
    }),
  ],
});

function report({ config }: EndpointSite<ValidatorConfig>, log: EndpointSite<ValidatorConfig>['log']): void {
  const { roles, scopes } = config;
  if (roles.length > 0) log.debug(`Roles are in the claim ${config.roles_key}`);
  if (scopes.length > 0) log.debug(`Scopes are in the claim ${config.scopes_key}, required: ${config.scopes_matcher}`);
  if (config.operation_debug) log.debug('Rejections are logged');
}

/** Checks for invalid combinations, and warns of settings that have no effect. */
function checkFields(site: EndpointSite<ValidatorConfig>): void {
  const { config } = site;
  const local = config.jwk_local_path !== undefined;
  if (local && config.cache) {
    throw site.fault(
      'VALIDATOR_CACHE',
      '/cache',
      '"cache" has no effect on keys from a file, which is read only once',
      {
        hint: 'remove "cache"',
      },
    );
  }
  if (config.scopes.length > 0 && config.scopes_key === '') {
    throw site.fault('VALIDATOR_SCOPES', '/scopes', 'scopes are not checked without scopes_key', {
      hint: '"scopes_key": "scope"',
    });
  }
  for (const name of ['leeway', 'failed_jwk_key_cooldown'] as const) {
    const isOff = name === 'failed_jwk_key_cooldown' && config[name] === 0;
    if (config[name] < 1000 && !isOff) throw site.fault('VALIDATOR_DURATION', `/${name}`, `${name} is less than 1s`);
  }
  if (!isHeaderName(config.auth_header_name)) {
    throw site.fault('VALIDATOR_HEADER', '/auth_header_name', 'auth_header_name is not a valid header name');
  }
  checkKeyFields(site);
  const unused = (name: string, without: string) =>
    site.warn('VALIDATOR_UNUSED', `/${name}`, `${name} has no effect ${without}`);
  if (local && config.failed_jwk_key_cooldown > 0) unused('failed_jwk_key_cooldown', 'with jwk_local_path');
  if (!local && !config.cache && config.cache_duration !== DEFAULT_SECONDS) unused('cache_duration', 'without cache');
  if (config.scopes.length === 0 && config.scopes_key !== '') unused('scopes_key', 'without scopes');
  if (config.roles.length === 0 && config.roles_key !== 'roles') unused('roles_key', 'without roles');
  if (config.roles_key_is_nested && !config.roles_key.includes('.'))
    unused('roles_key_is_nested', 'if roles_key contains no dots');
  if (config.propagate_claims_preserve_array && config.propagate_claims.length === 0) {
    unused('propagate_claims_preserve_array', 'without propagate_claims');
  }
}

/** Warns of symmetric keys that are shorter than the hash, and rejects files without a usable key. */
function warnOfWeakKeys(
  site: EndpointSite<ValidatorConfig>,
  keys: ReturnType<NonNullable<ReturnType<typeof openKeys>>['all']>,
) {
  if (keys.length === 0) return;
  const { kind, hashBytes } = algorithm(site.config.alg);
  const suiting = keys.filter((key) => key.kind === kind && key.verifying);
  if (suiting.length === 0) {
    throw site.fault('VALIDATOR_KEYS', '/jwk_local_path', `the file contains no key for ${site.config.alg}`);
  }
  if (kind === 'oct' && suiting.some((key) => key.secretBytes < hashBytes)) {
    site.warn('VALIDATOR_WEAK_KEY', '/jwk_local_path', `a key of the file is shorter than ${hashBytes} bytes`, {
      hint: `openssl rand ${hashBytes} | basenc --base64url`,
    });
  }
}
