import { hash } from 'node:crypto';
import type { DataObject } from '#contract';
import type { Jwk } from '../../clients/keys/jwk.ts';
import type { Times } from './claims.ts';
import type { Judgement } from './judgement.ts';

/**
 * Maximum number of cached tokens per endpoint, and maximum of their total characters. At least the most recently used
 * half is kept.
 */
const MAX_TOKENS = 10_000;
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** A token with a valid signature. */
export interface Verified {
  readonly keyId: string;
  /** Key that verified the token. The signature is not verified again while the key keeps its ID. */
  readonly key: Jwk;
  readonly claims: Readonly<DataObject>;
  readonly times: Times;
  readonly length: number;
  /** Result for the current configuration. */
  judgement: Judgement | null;
}

/** Returns the cache key of a token. */
export function nameOf(token: string): string {
  return hash('sha256', token, 'binary');
}

/** Values of tokens, by cache key. The limit counts `length` characters for each value. */
export class TokenCache<T extends { readonly length: number }> {
  #young = new Map<string, T>();
  /**
   * Older generation. It is dropped when the young generation is full; tokens used before then move to the young one.
   */
  #old = new Map<string, T>();
  #characters = 0;

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(name: string): T | undefined {
    const young = this.#young.get(name);
    if (young) return young;
    const old = this.#old.get(name);
    if (old) this.set(name, old);
    return old;
  }

  set(name: string, known: T): void {
    if (this.#young.size >= MAX_TOKENS / 2 || this.#characters + known.length > MAX_CHARACTERS / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#characters = 0;
    }
    this.#old.delete(name);
    this.#characters += known.length - (this.#young.get(name)?.length ?? 0);
    this.#young.set(name, known);
  }
}
