import type { Data } from '#contract';
import { canonicalJson } from '../config/index.ts';
import type { Scope } from './scope.ts';

interface Kept {
  readonly value: unknown;
  readonly close: ((value: never) => void | Promise<void>) | undefined;
  holders: number;
}

/** Values that outlive a configuration: each lives for as long as some configuration holds its key. */
export class RefCountedCache {
  readonly #kept = new Map<string, Kept>();

  /** Values alive. */
  get size(): number {
    return this.#kept.size;
  }

  /** Takes a value for one holder, who gives it back. */
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

  /** A cache's view for one configuration: what it takes is let go with the scope. */
  lease(scope: Scope): CacheLease {
    return new CacheLease(this, scope);
  }
}

/** Takes kept values for one configuration, each once however often it is asked for. */
export class CacheLease {
  readonly #cache: RefCountedCache;
  readonly #scope: Scope;
  /** Few for each holder, and there are many holders. */
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

/** Names a kept value: equal for equal keys, whatever the order of their members. */
export function keptId(owner: string, key: Data): string {
  return `${owner} ${canonicalJson(key)}`;
}
