import type { Data } from '#contract';
import { canonicalJson } from '../../config/index.ts';
import type { Scope } from './scope.ts';

interface Kept {
  readonly value: unknown;
  readonly close: ((value: never) => void | Promise<void>) | undefined;
  holders: number;
}

/** Values that outlive a configuration. Each one exists as long as a configuration holds its key. */
export class RefCountedCache {
  readonly #kept = new Map<string, Kept>();

  /** Number of live values. */
  get size(): number {
    return this.#kept.size;
  }

  /** Acquires a value for one holder, which must release it. */
  take<T>(id: string, open: () => T, close?: (value: T) => void | Promise<void>): T {
    let kept = this.#kept.get(id);
    if (!kept) {
      kept = { value: open(), close, holders: 0 };
      this.#kept.set(id, kept);
    }
    kept.holders++;
    return kept.value as T;
  }

  giveBack(id: string): void | Promise<void> {
    const kept = this.#kept.get(id)!;
    kept.holders--;
    if (kept.holders > 0) return;
    this.#kept.delete(id);
    return kept.close?.(kept.value as never);
  }

  /** Creates a view of the cache for one configuration; the values that it takes are released with the scope. */
  lease(scope: Scope): CacheLease {
    return new CacheLease(this, scope);
  }
}

/** Acquires kept values for one configuration, each once, however often it is requested. */
export class CacheLease {
  readonly #cache: RefCountedCache;
  readonly #scope: Scope;
  /** A list takes less memory than a set, because each of the many holders has few values. */
  #held: readonly (readonly [id: string, value: unknown])[] = [];

  constructor(cache: RefCountedCache, scope: Scope) {
    this.#cache = cache;
    this.#scope = scope;
  }

  keep<T>(owner: string, key: Data, open: () => T, close?: (value: T) => void | Promise<void>): T {
    const id = keptId(owner, key);
    const held = this.#held.find(([known]) => known === id);
    if (held) return held[1] as T;
    const value = this.#cache.take(id, open, close);
    this.#scope.defer(() => this.#cache.giveBack(id));
    this.#held = [...this.#held, [id, value]];
    return value;
  }
}

/** Id of a kept value: equal for equal keys, regardless of the order of their members. */
export function keptId(owner: string, key: Data): string {
  return `${owner} ${canonicalJson(key)}`;
}
