import { randomBytes } from 'node:crypto';
import { hashOfToken, type Tokens } from './tokens.ts';

/** A one-time code for opening the dashboard. */
export interface Code {
  readonly code: string;
  readonly validForMs: number;
}

/** Browser sessions of the dashboard: tokens that the gateway issues on behalf of another token. */
export interface Sessions extends Tokens {
  /** Creates a one-time code. @param owner hash of the token that requests it. */
  createCode(owner: string): Code;
  /** Exchanges a code for the token of a new session. @returns null for an unknown, used or expired code. */
  redeem(code: string): string | null;
}

/** Validity of a code: a browser opens it at once. */
const CODE_MS = 60_000;
/** Validity of a session: a working day. */
const SESSION_MS = 12 * 3_600_000;
/** Maximum number of codes, and of sessions. A further one replaces the oldest of the token with the most. */
const MAX_COUNT = 100;

/** An issued code or session. */
interface Issued {
  /** Hash of the token with whose permissions the session acts. */
  readonly owner: string;
  /** On the clock of `now`, in milliseconds. */
  readonly endsAt: number;
}

/**
 * Accepts the tokens of sessions in addition to others. A session has the permissions that its owner has at the moment
 * of each request: it ends when the owner is revoked.
 * @param now milliseconds, monotonic.
 */
export function createSessions(tokens: Tokens, now: () => number): Sessions {
  /** Codes and sessions are found by the hash of the secret, so that neither memory nor timing reveals a secret. */
  const codes = new Map<string, Issued>();
  const sessions = new Map<string, Issued>();

  const issue = (among: Map<string, Issued>, owner: string, validForMs: number): string => {
    const secret = randomBytes(32).toString('base64url');
    among.set(hashOfToken(secret), { owner, endsAt: now() + validForMs });
    if (among.size > MAX_COUNT) among.delete(oldestOfMost(among));
    return secret;
  };
  const current = (among: Map<string, Issued>, sha256: string): Issued | null => {
    const issued = among.get(sha256);
    if (!issued || now() < issued.endsAt) return issued ?? null;
    among.delete(sha256);
    return null;
  };
  return {
    async find(sha256) {
      const session = current(sessions, sha256);
      return tokens.find(session?.owner ?? sha256);
    },
    createCode(requester) {
      // The owner of a session that opens another window is the owner of the new session, too.
      const owner = current(sessions, requester)?.owner ?? requester;
      return { code: issue(codes, owner, CODE_MS), validForMs: CODE_MS };
    },
    redeem(code) {
      const sha256 = hashOfToken(code);
      const issued = current(codes, sha256);
      codes.delete(sha256);
      return issued && issue(sessions, issued.owner, SESSION_MS);
    },
  };
}

/** The key of the oldest among those of the token with the most, so that no token ends the sessions of others. */
function oldestOfMost(among: ReadonlyMap<string, Issued>): string {
  const byOwner = [...Map.groupBy(among, ([, { owner }]) => owner).values()];
  const [[oldest]] = byOwner.reduce((most, one) => (one.length > most.length ? one : most)) as [[string, Issued]];
  return oldest;
}
