import type { Runtime } from '../runtime/runtime.ts';

/** Configurations that workers serve. They are held in this process, too, because the values that workers share live here. */
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
