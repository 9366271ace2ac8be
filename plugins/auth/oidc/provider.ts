import { createHash } from 'node:crypto';
import { definePort, type Port, type Site } from '#contract';
import { connectionNamed } from '../../clients/redis/port.ts';
import { httpUrl } from '../../shared/calls/http-url.ts';
import { isLocal } from '../../shared/calls/local-url.ts';
import { localNonces } from '../lib/nonces.ts';
import { TokenCache } from '../validator/token-cache.ts';
import { Activity } from './activity.ts';
import { CookieJar } from './cookies.ts';
import { Discovery } from './discovery.ts';
import { EndedSessions } from './ended.ts';
import { Exchange } from './exchange.ts';
import { providerFetch } from './fetch.ts';
import { RedisSessions } from './redis-sessions.ts';
import { Refresher, refreshLimit } from './refresh.ts';
import type { ProviderConfig, ServiceConfig } from './schema.ts';
import { openSeal, type Seal } from './sealing.ts';
import { CookieSessions, type OpenedSessions, type Sessions, sessionSeal } from './sessions.ts';
import { localTurns, redisTurns } from './turns.ts';

/** Minimum length of a secret, in characters. */
const MIN_SECRET = 32;

/** A provider, and the sessions of its users. */
export interface Provider {
  readonly config: ProviderConfig;
  /** URL of the gateway, without a slash at the end. */
  readonly base: string;
  readonly issuer: URL;
  /** Path prefix of the provider's routes. */
  readonly path: string;
  readonly jar: CookieJar;
  /** Records the last requests of sessions in cookies; null without an idle timeout, and for sessions in Redis. */
  readonly activity: Activity | null;
  readonly seal: Seal;
  readonly sealSession: (text: string) => string;
  readonly sessions: Sessions;
  readonly exchange: Exchange;
  readonly refresher: Refresher;
  readonly discovery: Discovery;
  readonly fetch: ReturnType<typeof providerFetch>;
  /** Maximum duration of a session, in seconds. */
  readonly maxAge: number;
}

/** Providers of the service, by name. */
export const providers: Port<ReadonlyMap<string, Provider>> = definePort('oidc providers');

/**
 * @throws ConfigError `OIDC_URL`, `OIDC_NAME`, `OIDC_PATH`, `OIDC_CLIENT`, `OIDC_SESSION`, `REDIS_CONNECTION`; warning
 * `OIDC_INSECURE`.
 */
export function openProviders(site: Site<ServiceConfig>): ReadonlyMap<string, Provider> {
  const { providers: declared, public_url, session } = site.config;
  const base = baseOf(site, public_url);
  if (session.max_age < 1000) throw site.fault('OIDC_SESSION', '/session/max_age', 'max_age is shorter than 1 second');
  checkIdle(site, session);
  const short = session.secrets.findIndex((secret) => secret.length < MIN_SECRET);
  if (short >= 0) {
    throw site.fault(
      'OIDC_SESSION',
      `/session/secrets/${short}`,
      `the secret has fewer than ${MIN_SECRET} characters`,
      {
        hint: 'create one with "openssl rand -hex 32"',
      },
    );
  }
  const seal = openSeal(session.secrets);
  const opened = new Map<string, Provider>();
  const paths = new Map<string, string>();
  for (const [index, config] of declared.entries()) {
    const at = `/providers/${index}`;
    const path = config.path ?? `/oidc/${config.name}`;
    if (opened.has(config.name)) {
      throw site.fault('OIDC_NAME', `${at}/name`, `two providers are named "${config.name}"`);
    }
    const other = paths.get(path);
    if (other !== undefined) {
      throw site.fault('OIDC_PATH', `${at}/path`, `provider "${other}" has the same path, ${path}`);
    }
    paths.set(path, config.name);
    opened.set(config.name, openProvider(site, config, at, { base, path, seal }));
  }
  return opened;
}

function openProvider(
  site: Site<ServiceConfig>,
  config: ProviderConfig,
  at: string,
  { base, path, seal }: Pick<Provider, 'base' | 'path' | 'seal'>,
): Provider {
  const { secrets, cookie_name: name, same_site: sameSite, connection_name } = site.config.session;
  const { max_age: maxAgeMs, idle_timeout: idleMs = null } = site.config.session;
  const issuer = issuerOf(site, config.issuer, `${at}/issuer`);
  checkClient(site, config, at);
  const log = site.log.at('[OIDC]');
  const fetch = providerFetch(site, issuer.href, `${at}/issuer`, config.timeout);
  const clock = site.use('clock');
  const discovery = new Discovery({ config, issuer, fetch, now: () => clock.now(), log });
  const exchange = new Exchange(discovery, config);
  const identity = createHash('sha256')
    .update(JSON.stringify([config.name, config.issuer, config.client_id, secrets]))
    .digest('base64url');
  // The identity excludes the provider's name: a session belongs to the issuer and the client for which it was created.
  const opened = site.keep(['sessions', identity], (): OpenedSessions => new TokenCache());
  const client = JSON.stringify([config.name, config.issuer, config.client_id]);
  const sealed = sessionSeal(seal, client, maxAgeMs, opened);
  const limitMs = refreshLimit(config.timeout);
  const redis =
    connection_name === undefined ? null : connectionNamed(site, connection_name, '/session/connection_name');
  const scope = createHash('sha256').update(`${config.issuer} ${config.client_id}`).digest('base64url').slice(0, 22);
  const sessions = redis
    ? new RedisSessions(redis, sealed, scope, { maxAgeMs, idleMs })
    : new CookieSessions(sealed, new EndedSessions(site, scope, maxAgeMs), localNonces(site, `oidc ${scope}`));
  const turns = redis ? redisTurns(redis, scope, limitMs) : localTurns(site, identity, limitMs);
  const refresher = new Refresher({ sessions, seal: sealed, turns, exchange, log, limitMs });
  const jar = new CookieJar(name, config.name, sameSite);
  const activity = idleMs === null || redis ? null : new Activity(jar, secrets, client, idleMs);
  return {
    ...{ config, base, issuer, path, jar, activity, seal, sessions, exchange, refresher, discovery, fetch },
    sealSession: sealed.close,
    maxAge: Math.floor(maxAgeMs / 1000),
  };
}

/** @throws ConfigError `OIDC_SESSION`; warning `OIDC_UNUSED`. */
function checkIdle(site: Site<ServiceConfig>, session: ServiceConfig['session']): void {
  const { idle_timeout: idleMs, max_age: maxAgeMs } = session;
  if (idleMs === undefined) return;
  const at = '/session/idle_timeout';
  if (idleMs < 1000) throw site.fault('OIDC_SESSION', at, 'idle_timeout is shorter than 1 second');
  if (idleMs >= maxAgeMs) site.warn('OIDC_UNUSED', at, 'idle_timeout has no effect: it is not shorter than max_age');
}

function plainUrl(written: string): URL | null {
  const url = httpUrl(written);
  return url?.search === '' && url.hash === '' ? url : null;
}

function baseOf(site: Site<ServiceConfig>, written: string): string {
  const url = plainUrl(written);
  if (!url) {
    throw site.fault(
      'OIDC_URL',
      '/public_url',
      'public_url is not an http or https URL without user, query and fragment',
    );
  }
  if (url.protocol === 'http:' && !isLocal(url)) {
    throw site.fault('OIDC_URL', '/public_url', 'browsers do not accept the cookies of sessions without TLS', {
      hint: 'use https://, also if a proxy in front of the gateway terminates TLS',
    });
  }
  return url.href.replace(/\/+$/, '');
}

function issuerOf(site: Site<ServiceConfig>, written: string, at: string): URL {
  const url = plainUrl(written);
  if (!url) throw site.fault('OIDC_URL', at, 'issuer is not an http or https URL without user, query and fragment');
  if (url.protocol === 'http:' && !isLocal(url)) {
    site.warn('OIDC_INSECURE', at, 'anyone on the network could log in as any user', { hint: 'https://' });
  }
  return url;
}

function checkClient(site: Site<ServiceConfig>, config: ProviderConfig, at: string): void {
  const isPublic = config.client_auth_method === 'none';
  if (isPublic === (config.client_secret === undefined)) return;
  const message = isPublic
    ? 'client_secret has no effect with the authentication method none'
    : `client_secret is required with the authentication method ${config.client_auth_method}`;
  throw site.fault('OIDC_CLIENT', isPublic ? `${at}/client_secret` : at, message);
}
