import { createHash } from 'node:crypto';
import {
  atBackend,
  BackendError,
  type BackendSite,
  type Data,
  definePlugin,
  defineSlot,
  discard,
  type HttpAttempt,
  type HttpSigner,
  httpSigners,
  offer,
  type PipeRequest,
  type Wrap,
} from '#contract';
import { isSameHost } from '../../clients/tokens/token-server.ts';
import { type Token, TokenStore } from '../../clients/tokens/token-store.ts';
import { isLocal } from '../../shared/calls/local-url.ts';
import { idempotent } from '../../shared/retries/idempotent.ts';
import { type CredentialsConfig, schema } from './schema.ts';
import { tokenServer } from './token-server.ts';

/** Minimum age of a rejected token, in milliseconds, to assume that it was revoked. */
const LEAST_AGE_MS = 5000;

/** Authentication state of a call to a backend. */
interface Sent {
  token: Token | null;
  /** Origin of the first request, which may receive tokens, and the method of that request. */
  home: URL | null;
  method: string;
}

const sentSlot = defineSlot<Sent>('client credentials');

/**
 * Sends access tokens that the gateway requests for itself, and replaces the client's `Authorization` header. The
 * backend is not called without a token (`CREDENTIALS_TOKEN`).
 *
 * Configuration faults: `CREDENTIALS_URL`, `CREDENTIALS_SCOPE`; warning `CREDENTIALS_INSECURE`.
 */
export const plugin = definePlugin({
  name: 'auth/client-credentials',
  description: 'Requests OAuth 2.0 client-credentials tokens and sends them to a backend.',
  leaves: ['data'],
  offers: [httpSigners],
  places: [
    atBackend(schema, (site) => {
      const url = checkFields(site);
      if (site.config.is_disabled) return {};
      const { client_id: id, client_secret: secret, scopes, endpoint_params: params } = site.config;
      const server = tokenServer(site, url, hashed);
      const tokens = new TokenStore(site, hashed(url.href, id, secret, scopes, params as Data), server);
      return {
        offers: [offer(httpSigners, signerOf(tokens))],
        transport: renewing(tokens),
        sets: ['Authorization'],
      };
    }),
  ],
});

/** Hashes the keys of stored values, because the keys may be displayed. */
function hashed(...values: Data[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('base64');
}

function signerOf(tokens: TokenStore): HttpSigner {
  return {
    sign(attempt, call) {
      const sent = call.get(sentSlot);
      const url = new URL(attempt.origin);
      if (sent && attempt.redirects === 0) {
        sent.home = url;
        sent.method = attempt.method;
      }
      if (attempt.redirects > 0 && !(sent?.home && isSameHost(url, sent.home))) {
        attempt.headers.delete('Authorization');
        // A rejection by another host, after a redirect, does not mean that the token is invalid.
        if (sent) sent.token = null;
        return;
      }
      const put = (token: Token): void => {
        if (sent) sent.token = token;
        attempt.headers.set('Authorization', token.authorization);
      };
      const token = tokens.get();
      if (!(token instanceof Promise)) return put(token);
      return token.then(put, (error: Error) => {
        throw new BackendError('CREDENTIALS_TOKEN', `${callOf(attempt, url)}: oauth2: ${error.message}`);
      });
    },
  };
}

/** Describes a request for a message, without the user name and password of its URL. */
function callOf({ method, target }: HttpAttempt, { protocol, host }: URL): string {
  return `${method.charAt(0)}${method.slice(1).toLowerCase()} "${protocol}//${host}${target}"`;
}

/** Replaces a token that the backend rejects if the token is not new, and repeats the request if that is safe. */
function renewing(tokens: TokenStore): Wrap<PipeRequest> {
  return (next) => async (request, call) => {
    const sent: Sent = { token: null, home: null, method: '' };
    const { origin, target, host, body } = request;
    const reply = await next(request, call.with(sentSlot, sent));
    if (reply.status !== 401 || !sent.token || !tokens.dropRefused(sent.token, LEAST_AGE_MS)) return reply;
    if ((body !== null && body.length !== 0) || !idempotent.has(sent.method)) return reply;
    discard(reply.body);
    // A redirect may have changed origin, target and host of the request, so they are restored.
    request.origin = origin;
    request.target = target;
    request.host = host;
    return next(request, call.with(sentSlot, { token: null, home: null, method: '' }));
  };
}

function checkFields(site: BackendSite<CredentialsConfig>): URL {
  const { token_url: written, scopes, endpoint_params: params } = site.config;
  const url = URL.canParse(written) ? new URL(written) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw site.fault('CREDENTIALS_URL', '/token_url', 'token_url is not an http or https URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw site.fault('CREDENTIALS_URL', '/token_url', 'token_url contains a user name or password', {
      hint: 'write them as client_id and client_secret',
    });
  }
  if (scopes !== '' && Object.hasOwn(params, 'scope')) {
    throw site.fault('CREDENTIALS_SCOPE', '/endpoint_params/scope', 'the scope is already set in "scopes"', {
      hint: 'remove "scope" from "endpoint_params", or remove "scopes"',
      related: [`${site.pointer}/scopes`],
    });
  }
  if (url.protocol === 'http:' && !isLocal(url)) {
    site.warn('CREDENTIALS_INSECURE', '/token_url', 'the secret is sent without TLS', { hint: 'https://' });
  }
  return url;
}
