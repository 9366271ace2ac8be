import { hash, timingSafeEqual } from 'node:crypto';
import type { AdminSettings } from '#contract';
import type { Caller } from '../caller.ts';

/** A token as stored: the token that a client sends is compared by its hash. */
export type TokenEntry = AdminSettings['tokens'][number];

/** The accepted tokens. */
export interface Tokens {
  /**
   * Finds the owner of a token by the token's hash; null for an unknown token. Takes the same time for valid and invalid
   * tokens.
   */
  find(sha256: string): Promise<Caller | null>;
}

/** @param entries called for every check, so that changes take effect at once. */
export function createTokens(entries: () => readonly TokenEntry[] | Promise<readonly TokenEntry[]>): Tokens {
  return {
    async find(given) {
      const sent = Buffer.from(given);
      let match: Caller | null = null;
      for (const { id, sha256, scopes } of await entries()) {
        const kept = Buffer.from(sha256);
        if (kept.length === sent.length && timingSafeEqual(kept, sent)) match = { id, scopes, sha256 };
      }
      return match;
    },
  };
}

export function hashOfToken(token: string): string {
  return hash('sha256', token);
}
