import type { Data, MirrorOptions } from '#contract';

/** What goes from process to process. */
export type MirrorChange = Data | Uint8Array;

/** How changes reach the other processes. */
export interface MirrorLink {
  /** Sends a change to the owner, or from the owner to every worker. */
  send(id: string, change: MirrorChange): void;
  /** For a worker: asks the owner for everything up to now, undefined for nothing. Null in the owner. */
  readonly fetch: ((id: string) => Promise<MirrorChange | undefined>) | null;
}

interface Copy {
  readonly value: unknown;
  readonly options: MirrorOptions<unknown, MirrorChange>;
  /** False until it has what the owner has: what comes before that is part of it. */
  complete: boolean;
}

/**
 * The copies this process has of values that all processes share. Every change goes through the owner, which passes it on
 * to all workers; alone there is nobody to pass it on to.
 */
export class Mirrors {
  readonly #copies = new Map<string, Copy>();
  /** Set where there are other processes. */
  link: MirrorLink | null = null;

  /** Makes a copy. @param id of the value. */
  open<T, Change extends MirrorChange>(id: string, options: MirrorOptions<T, Change>): T {
    const value = options.open();
    this.#copies.set(id, {
      value,
      options: options as unknown as Copy['options'],
      complete: !this.link?.fetch,
    });
    return value;
  }

  /** Resolves when the copy has everything the owner has. */
  async complete(id: string): Promise<void> {
    const copy = this.#copies.get(id);
    const fetch = this.link?.fetch;
    if (!copy || copy.complete || !fetch) return;
    const snapshot = await fetch(id);
    if (copy.complete) return;
    copy.complete = true;
    if (snapshot !== undefined) copy.options.apply(copy.value, snapshot);
  }

  close(id: string): void {
    this.#copies.delete(id);
  }

  /** A change of this process. */
  change(id: string, change: MirrorChange): void {
    // A worker's own change comes back from the owner, in the order in which everybody sees it.
    if (!this.link?.fetch) this.#apply(id, change);
    this.link?.send(id, change);
  }

  /** A change from another process. @returns false when the value is not known here. */
  receive(id: string, change: MirrorChange): boolean {
    return this.#apply(id, change);
  }

  /** Everything up to now, for a process that starts; undefined when the value is not known here. */
  snapshot(id: string): MirrorChange | undefined {
    const copy = this.#copies.get(id);
    return copy?.options.snapshot(copy.value);
  }

  #apply(id: string, change: MirrorChange): boolean {
    const copy = this.#copies.get(id);
    if (!copy) return false;
    if (copy.complete) copy.options.apply(copy.value, change);
    return true;
  }
}
