import type { Configuration, IDToken, TokenEndpointResponse } from 'openid-client';
import type { Call } from '#contract';
import { Undecided } from '../lib/undecided.ts';
import { type Discovery, library } from './discovery.ts';
import { undecidedCause } from './fetch.ts';
import type { ProviderConfig } from './schema.ts';
import { type Session, sessionText } from './session.ts';

/** Values of a login that the provider's response must match. */
export interface LoginChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

type Tokens = TokenEndpointResponse & { claims(): IDToken | undefined };

/** Requests to the provider. Each method throws the call's abort reason if the call ends, or an error whose cause is `Undecided`. */
export class Exchange {
  readonly #discovery: Discovery;
  readonly #config: ProviderConfig;
  readonly #scope: string;

  constructor(discovery: Discovery, config: ProviderConfig) {
    this.#discovery = discovery;
    this.#config = config;
    this.#scope = [...new Set(['openid', ...config.scopes])].join(' ');
  }

  /** Starts a login. Returns the URL at which the user logs in, and the values to check afterwards. */
  async begin(redirectUri: string, call: Call): Promise<LoginChecks & { readonly url: URL }> {
    const client = await this.#discovery.client(call);
    const lib = await library.get();
    const [state, nonce, verifier] = [lib.randomState(), lib.randomNonce(), lib.randomPKCECodeVerifier()];
    const url = lib.buildAuthorizationUrl(client, {
      ...this.#config.authorization_params,
      redirect_uri: redirectUri,
      scope: this.#scope,
      state,
      nonce,
      code_challenge: await lib.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { state, nonce, verifier, url };
  }

  /** Completes a login. @param url of the callback, with the provider's parameters. @returns the text of its session. */
  async complete(url: URL, { state, nonce, verifier }: LoginChecks, call: Call): Promise<string> {
    const client = await this.#discovery.client(call);
    const lib = await library.get();
    const startedAt = Date.now() / 1000;
    const tokens = await lib.authorizationCodeGrant(client, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const { access_token: accessToken, refresh_token: refreshToken = null } = tokens;
    const session = { idToken: tokens.id_token!, accessToken, refreshToken, expires: expiryOf(tokens), startedAt };
    return sessionText(session, await this.#userInfo(client, accessToken, tokens.claims()!.sub));
  }

  /** Uses the refresh token of a session. @returns the text of the session; null if the provider has ended it. */
  async refresh(session: Session, call: Call): Promise<string | null> {
    const client = await this.#discovery.client(call);
    const lib = await library.get();
    let tokens: Tokens;
    try {
      tokens = await lib.refreshTokenGrant(client, session.refreshToken!);
    } catch (error) {
      if (error instanceof lib.ResponseBodyError && error.error === 'invalid_grant') return null;
      throw asUndecided(error);
    }
    const renewed = {
      idToken: tokens.id_token ?? session.idToken,
      accessToken: tokens.access_token,
      refreshToken: tokens.refresh_token ?? session.refreshToken,
      expires: expiryOf(tokens),
      startedAt: session.startedAt,
    };
    const subject = String(session.claims['sub']);
    try {
      return sessionText(renewed, await this.#userInfo(client, renewed.accessToken, subject));
    } catch (error) {
      throw asUndecided(error);
    }
  }

  /** Ends a session at the provider. @returns the URL at which the user logs out there; null if the provider has no such URL. */
  async end({ idToken, refreshToken }: Session, redirectUri: string, call: Call): Promise<URL | null> {
    const client = await this.#discovery.client(call);
    const lib = await library.get();
    const { end_session_endpoint: page, revocation_endpoint: revocation } = client.serverMetadata();
    // The refresh token is revoked, so that a copied session cannot be refreshed. The user is logged out even if that
    // fails.
    if (refreshToken !== null && revocation) await lib.tokenRevocation(client, refreshToken).catch(() => {});
    if (!page) return null;
    return lib.buildEndSessionUrl(client, { id_token_hint: idToken, post_logout_redirect_uri: redirectUri });
  }

  async #userInfo(client: Configuration, accessToken: string, subject: string): Promise<string> {
    if (!this.#config.userinfo) return '';
    const lib = await library.get();
    return JSON.stringify(await lib.fetchUserInfo(client, accessToken, subject));
  }
}

function expiryOf({ expires_in: seconds }: TokenEndpointResponse): number | null {
  return seconds === undefined ? null : Math.floor(Date.now() / 1000) + seconds;
}

/** Converts errors of the library, which describe an invalid response without its content. */
export function asUndecided(error: unknown): Undecided {
  const known = undecidedCause(error);
  if (known) return known;
  const { message, code } = error as Error & { code?: string };
  return new Undecided(code === undefined ? message : `${message} (${code})`, false);
}
