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

  /** A cache's view for one configuration: what it takes is let go with the scope. */
  lease(scope: Scope): CacheLease {
    return new CacheLease(this.#kept, scope);
  }
}

/** Takes kept values for one configuration, each once however often it is asked for. */
export class CacheLease {
  readonly #kept: Map<string, Kept>;
  readonly #scope: Scope;
  /** Few for each holder, and there are many holders. */
  readonly #held: string[] = [];

  constructor(kept: Map<string, Kept>, scope: Scope) {
    this.#kept = kept;
    this.#scope = scope;
  }

  keep<T>(owner: string, key: Data, open: () => T, close?: (value: T) => void | Promise<void>): T {
    const id = keptId(owner, key);
    let kept = this.#kept.get(id);
    if (!kept) {
      kept = { value: open(), close, holders: 0 };
      this.#kept.set(id, kept);
    }
    if (!this.#held.includes(id)) {
      this.#held.push(id);
      kept.holders++;
      const held = kept;
      this.#scope.defer(() => this.#release(id, held));
    }
    return kept.value as T;
  }

  #release(id: string, kept: Kept): void | Promise<void> {
    kept.holders--;
    if (kept.holders > 0) return;
    this.#kept.delete(id);
    return kept.close?.(kept.value as never);
  }
}

/** Names a kept value: equal for equal keys, whatever the order of their members. */
export function keptId(owner: string, key: Data): string {
  return `${owner} ${canonicalJson(key)}`;
}
