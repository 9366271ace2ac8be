import { createHash } from 'node:crypto';
import {
  type AtBackend,
  atBackend,
  BackendError,
  type BackendSite,
  type Data,
  definePlugin,
  defineSlot,
  type HttpAttempt,
  httpSigners,
  isHeaderName,
  offer,
  type PipeRequest,
  type Wrap,
} from '#contract';
import { isSameHost } from '../../clients/tokens/token-server.ts';
import { TokenStore } from '../../clients/tokens/token-store.ts';
import { type GcpConfig, schema } from './schema.ts';
import { type ServiceAccount, serviceAccountOf } from './service-account.ts';
import { accountServer, metadataServer } from './token-servers.ts';

/** Claims that the gateway sets itself. */
const ownClaims = ['iss', 'sub', 'aud', 'iat', 'exp', 'target_audience'];

/** Origin of a call's first request. Other hosts never receive the token. */
interface Home {
  url: URL | null;
}

const homeSlot = defineSlot<Home>('gcp home');

/**
 * Sends Google identity tokens to a backend, and replaces the client's header of that name. The backend is not called
 * without a token (`GCP_TOKEN`).
 *
 * Configuration faults: GCP_HEADER, GCP_CLAIM and those of `serviceAccountOf`; warnings: GCP_CLAIMS, GCP_INSECURE,
 * GCP_UNUSED.
 */
export const plugin = definePlugin({
  name: 'auth/gcp',
  description: 'Sends Google Cloud identity tokens of the gateway to a backend.',
  leaves: ['data'],
  offers: [httpSigners],
  places: [atBackend(schema, attach)],
});

function attach(site: BackendSite<GcpConfig>): AtBackend {
  checkFields(site);
  const { config } = site;
  const header = config.s2s_auth_header || 'Authorization';
  const account = serviceAccountOf(site);
  if (!account && config.custom_claims !== undefined) {
    site.warn(
      'GCP_CLAIMS',
      '/custom_claims',
      'custom_claims have no effect, because the metadata server of the machine issues the tokens',
      {
        hint: 'set "credentials_file" to the key file of a service account',
      },
    );
  }
  const server = account ? accountServer(site, account) : metadataServer(site);
  const tokens = new TokenStore(site, keyOf(config, account), server);
  if (!account) reportMissing(site, tokens);
  const sign = (attempt: HttpAttempt, home: Home | undefined): void | Promise<void> => {
    const url = new URL(attempt.origin);
    if (home && attempt.redirects === 0) home.url = url;
    if (attempt.redirects > 0 && !(home?.url && isSameHost(url, home.url))) {
      attempt.headers.delete(header);
      return;
    }
    const token = tokens.get();
    if (!(token instanceof Promise)) return attempt.headers.set(header, token.authorization);
    return token.then(
      ({ authorization }) => attempt.headers.set(header, authorization),
      (error: Error) => {
        throw new BackendError('GCP_TOKEN', `no identity token could be obtained from Google: ${error.message}`);
      },
    );
  };
  const transport: Wrap<PipeRequest> = (next) => (request, call) => {
    request.headers.delete(header);
    return next(request, call.with(homeSlot, { url: null }));
  };
  return {
    offers: [offer(httpSigners, { sign: (attempt, call) => sign(attempt, call.get(homeSlot)) })],
    transport,
    sets: [header],
  };
}

/**
 * Logs an error at startup if no credentials are configured and the metadata server is not available: every call would
 * fail.
 */
function reportMissing(site: BackendSite<GcpConfig>, tokens: TokenStore): void {
  site.start(async (signal) => {
    try {
      await tokens.get();
    } catch (error) {
      if (!signal.aborted) site.log.error(`[GCP] no credentials: ${(error as Error).message}`);
    }
  });
}

/** Returns the key under which tokens are stored. Hashed, because keys may be displayed. */
function keyOf({ audience, custom_claims: claims = {} }: GcpConfig, account: ServiceAccount | null): string {
  const owner = account && [
    account.email,
    account.keyId ?? '',
    account.tokenUrl.href,
    account.key.export({ type: 'pkcs8', format: 'pem' }) as string,
  ];
  return createHash('sha256')
    .update(JSON.stringify([owner, audience, claims as Data]))
    .digest('base64');
}

function checkFields(site: BackendSite<GcpConfig>): void {
  const { s2s_auth_header: header, custom_claims: claims = {}, credentials_json, credentials_file } = site.config;
  if (header !== '' && !isHeaderName(header)) {
    throw site.fault('GCP_HEADER', '/s2s_auth_header', `"${header}" is not a valid header name`);
  }
  for (const name of Object.keys(claims)) {
    if (ownClaims.includes(name)) {
      throw site.fault(
        'GCP_CLAIM',
        `/custom_claims/${name}`,
        `the claim "${name}" cannot be configured: the gateway sets it`,
      );
    }
  }
  if (credentials_json !== undefined && credentials_file !== undefined) {
    site.warn('GCP_UNUSED', '/credentials_file', 'credentials_json takes precedence: credentials_file has no effect');
  }
  if (site.backend.host.some((host) => host.startsWith('http:'))) {
    site.warn('GCP_INSECURE', '', 'the token is sent without TLS', {
      hint: '"host": ["https://..."]',
      related: [site.pointer.replace(/\/extra_config\/.*$/, '/host')],
    });
  }
}
