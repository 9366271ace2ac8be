import { readFile } from 'node:fs/promises';
import { BackendError, type DataObject, isObject, type KeptAlive } from '#contract';
import { callVault, type VaultServer } from './api.ts';
import type { Login } from './schema.ts';

/** Part of a token's lifetime after which it is renewed. */
const RENEW_AT = 2 / 3;
/** A token that is renewed for less than this part of its first lifetime approaches its end: the gateway logs in again. */
const WORTH_RENEWING = 1 / 2;
/** Shortest time between two renewals, in milliseconds. */
const LEAST_PAUSE_MS = 1000;

/** A token with which the gateway authenticates at Vault. */
interface Token {
  readonly text: string;
  /** Lifetime of the token when it was issued, in milliseconds; infinite for a token that does not expire. */
  readonly lifeMs: number;
  readonly isRenewable: boolean;
  /** Time at which the token is renewed, on the monotonic clock. */
  readonly dueAt: number;
}

/** A login in progress, which concurrent calls share. */
interface Pending {
  readonly token: Promise<Token>;
  /** Signal of the call that has begun it. */
  readonly signal: AbortSignal;
}

/** The login of the gateway at a server, kept across reloads. */
export class Session {
  /** Versions of the key/value engines, by mount path, which ends with a slash; null for other engines. */
  readonly mounts = new Map<string, 1 | 2 | null>();
  readonly #login: Login;
  #token: Token | null = null;
  /** The login in progress; null without one. */
  #pending: Pending | null = null;
  /** Number of different tokens so far; `#lastText` is the text of the last one. */
  #logins = 0;
  #lastText = '';
  /** Value of `#logins` when leases were last known to be valid. */
  #knownLogins = 0;

  constructor(login: Login) {
    this.#login = login;
  }

  /** Calls an operation with the token. A token that is no longer valid is replaced once. @throws as `callVault` */
  async call(
    server: VaultServer,
    method: 'GET' | 'PUT' | 'POST',
    path: string,
    signal: AbortSignal,
    body?: DataObject,
  ): Promise<DataObject> {
    const token = await this.#valid(server, signal);
    try {
      return await callVault(server, method, path, token.text, signal, body);
    } catch (error) {
      if (!isForbidden(error) || (await this.#isAccepted(server, token, signal))) throw error;
      if (this.#token === token) this.#token = null;
      const { text } = await this.#valid(server, signal);
      return callVault(server, method, path, text, signal, body);
    }
  }

  /** Renews the token when it is due, or logs in again if it cannot be renewed. See `SecretStore.keepAlive`. */
  async keepAlive(server: VaultServer, signal: AbortSignal): Promise<KeptAlive> {
    const token = await this.#valid(server, signal);
    if (performance.now() >= token.dueAt) this.#token = await this.#renewed(server, token, signal);
    const { dueAt } = await this.#valid(server, signal);
    const endsLeases = this.#knownLogins > 0 && this.#logins !== this.#knownLogins;
    this.#knownLogins = this.#logins;
    return { nextMs: Math.max(dueAt - performance.now(), LEAST_PAUSE_MS), endsLeases };
  }

  /** @returns null for a token that must be replaced. */
  async #renewed(server: VaultServer, token: Token, signal: AbortSignal): Promise<Token | null> {
    if (!token.isRenewable) return null;
    try {
      const { lifeMs } = tokenIn(await callVault(server, 'POST', 'auth/token/renew-self', token.text, signal, {}));
      return lifeMs > token.lifeMs * WORTH_RENEWING ? { ...token, dueAt: dueIn(lifeMs) } : null;
    } catch (error) {
      if (error instanceof BackendError && (error.upstreamStatus === 403 || error.upstreamStatus === 400)) return null;
      throw error;
    }
  }

  /** Whether the server knows the token. If so, the token lacks a right. */
  async #isAccepted(server: VaultServer, { text }: Token, signal: AbortSignal): Promise<boolean> {
    try {
      await callVault(server, 'GET', 'auth/token/lookup-self', text, signal);
      return true;
    } catch (error) {
      if (isForbidden(error)) return false;
      throw error;
    }
  }

  async #valid(server: VaultServer, signal: AbortSignal): Promise<Token> {
    while (this.#token === null) {
      const pending = this.#pending ?? this.#begin(server, signal);
      try {
        return await pending.token;
      } catch (error) {
        // If the login was canceled with the call that began it, the calls that waited for it try again.
        if (signal.aborted || pending.signal === signal || !pending.signal.aborted) throw error;
      }
    }
    return this.#token;
  }

  #begin(server: VaultServer, signal: AbortSignal): Pending {
    const token = this.#obtain(server, signal).finally(() => {
      this.#pending = null;
    });
    this.#pending = { token, signal };
    return this.#pending;
  }

  async #obtain(server: VaultServer, signal: AbortSignal): Promise<Token> {
    const { path, fields, files } = this.#login;
    const read = await Promise.all(
      Object.entries(files).map(async ([name, file]) => [name, await readCredential(file)] as const),
    );
    const body = { ...fields, ...Object.fromEntries(read) };
    const token =
      path === null
        ? await lookUp(server, body['token']!, signal)
        : tokenIn(await callVault(server, 'POST', path, null, signal, body));
    this.#token = token;
    if (token.text !== this.#lastText) this.#logins++;
    this.#lastText = token.text;
    return token;
  }
}

/** @throws BackendError VAULT_LOGIN with the path. */
async function readCredential(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new BackendError('VAULT_LOGIN', `cannot read ${file}`, { cause });
  }
}

function isForbidden(error: unknown): boolean {
  return error instanceof BackendError && error.upstreamStatus === 403;
}

/** Lifetime of a token that needs no login. A token without permission to read its own properties is used as it is. */
async function lookUp(server: VaultServer, text: string, signal: AbortSignal): Promise<Token> {
  try {
    const { data } = await callVault(server, 'GET', 'auth/token/lookup-self', text, signal);
    const { ttl, renewable } = isObject(data) ? data : {};
    return tokenOf(text, ttl, renewable);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return tokenOf(text, 0, false);
  }
}

/** @throws BackendError VAULT_LOGIN for a response without a token. */
function tokenIn({ auth }: DataObject): Token {
  const { client_token: text, lease_duration: seconds, renewable } = isObject(auth) ? auth : {};
  if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text)) {
    throw new BackendError('VAULT_LOGIN', 'the server returned no token');
  }
  return tokenOf(text, seconds, renewable);
}

/** @param seconds lifetime; 0 for a token that does not expire. */
function tokenOf(text: string, seconds: unknown, renewable: unknown): Token {
  const lifeMs = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY;
  return { text, lifeMs, isRenewable: renewable === true, dueAt: dueIn(lifeMs) };
}

function dueIn(lifeMs: number): number {
  return performance.now() + lifeMs * RENEW_AT;
}
