import type Koa from 'koa';
import type { Log } from '#contract';
import { addressOf, type Caller, setCaller } from '../caller.ts';
import { Problem } from '../problem.ts';
import { hashOfToken, type Tokens } from '../tokens/tokens.ts';
import type { FailureCounter } from './failures.ts';

/** Identifies the sender of a request. */
export type Authenticate = (ctx: Koa.Context) => Promise<Caller>;

/**
 * A valid token always passes, so that others at the same address cannot lock its owner out with wrong tokens. Guessing
 * is prevented by the length of tokens, not by the number of attempts.
 * @throws Problem unauthorized; too-many-requests after too many failures of the address.
 */
export function createTokenGuard(tokens: Tokens, failures: FailureCounter, log: Log): Authenticate {
  return async (ctx) => {
    const token = bearerOf(ctx);
    const sha256 = token === undefined ? null : hashOfToken(token);
    const caller = sha256 === null ? null : await tokens.find(sha256);
    if (caller) {
      setCaller(ctx, caller, () => tokens.find(sha256!));
      return caller;
    }
    const address = addressOf(ctx) ?? 'unix';
    const waitSeconds = failures.waitSeconds(address);
    if (waitSeconds > 0) {
      const headers = { 'Retry-After': String(waitSeconds) };
      throw new Problem('too-many-requests', `too many wrong tokens from ${address}`, { headers });
    }
    if (failures.add(address))
      log.warning(`too many wrong tokens from ${address}; further attempts are rejected for one minute`);
    const detail =
      token === undefined ? 'a token is required: Authorization: Bearer <token>' : 'the token is not valid';
    throw new Problem('unauthorized', detail, { headers: { 'WWW-Authenticate': 'Bearer' } });
  };
}

/** Bearer token of a request; undefined if it has none. */
export function bearerOf(ctx: Koa.Context): string | undefined {
  return /^Bearer +([^\s]+) *$/i.exec(ctx.get('authorization'))?.[1];
}
