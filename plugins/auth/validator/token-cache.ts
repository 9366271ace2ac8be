import { hash } from 'node:crypto';
import type { DataObject } from '#contract';
import type { Jwk } from '../../services/keys/jwk.ts';
import type { Times } from './claims.ts';
import type { Judgement } from './judgement.ts';

/** Tokens remembered for one endpoint, and their characters together, half of them those that were used last. */
const MAX_TOKENS = 10_000;
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** A token whose signature is good. */
export interface Verified {
  readonly keyId: string;
  /** The key it was verified with: while it has that name, the signature need not be looked at again. */
  readonly key: Jwk;
  readonly claims: Readonly<DataObject>;
  readonly times: Times;
  readonly length: number;
  /** What the present configuration says of it. */
  judgement: Judgement | null;
}

/** The name under which a token is remembered. */
export function nameOf(token: string): string {
  return hash('sha256', token, 'binary');
}

/** Tokens that were verified, by their names. */
export class TokenCache {
  #young = new Map<string, Verified>();
  /** Those that are forgotten when the young ones are as many as may be, unless they are used before. */
  #old = new Map<string, Verified>();
  #characters = 0;

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(name: string): Verified | undefined {
    const young = this.#young.get(name);
    if (young) return young;
    const old = this.#old.get(name);
    if (old) this.set(name, old);
    return old;
  }

  set(name: string, verified: Verified): void {
    if (this.#young.size >= MAX_TOKENS / 2 || this.#characters + verified.length > MAX_CHARACTERS / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#characters = 0;
    }
    this.#old.delete(name);
    this.#characters += verified.length - (this.#young.get(name)?.length ?? 0);
    this.#young.set(name, verified);
  }
}
