import { hash, timingSafeEqual } from 'node:crypto';
import type { AdminSettings } from '#contract';
import type { Caller } from '../caller.ts';

/** A token as it is kept: what was sent is compared by its hash. */
export type TokenEntry = AdminSettings['tokens'][number];

/** Who may come in. */
export interface Tokens {
  /** Whose token it is; null for nobody's. Takes as long for a wrong token as for any other. */
  find(token: string): Promise<Caller | null>;
}

/** @param entries asked for with every token, so that a change of them counts at once. */
export function createTokens(entries: () => readonly TokenEntry[] | Promise<readonly TokenEntry[]>): Tokens {
  return {
    async find(token) {
      const sent = Buffer.from(hashOfToken(token));
      let match: Caller | null = null;
      for (const { id, sha256, scopes } of await entries()) {
        const kept = Buffer.from(sha256);
        if (kept.length === sent.length && timingSafeEqual(kept, sent)) match = { id, scopes };
      }
      return match;
    },
  };
}

export function hashOfToken(token: string): string {
  return hash('sha256', token);
}
