import type { Runtime } from '../runtime/runtime.ts';

/**
 * Configurations that workers serve. This process keeps them in memory as well, because it owns the values that workers
 * share.
 */
export class HeldRuntimes {
  readonly #held = new Map<number, () => void>();

  hold(runtime: Runtime): void {
    this.#held.set(runtime.id, runtime.hold());
  }

  /** Releases the configurations that no worker serves. */
  release(isOver: (revision: number) => boolean): void {
    for (const [revision, letGo] of this.#held) {
      if (!isOver(revision)) continue;
      this.#held.delete(revision);
      letGo();
    }
  }
}
