import type { Data, MirrorOptions } from '#contract';

/** A change as sent between processes. */
export type MirrorChange = Data | Uint8Array;

/** Link to the other processes of the gateway. */
export interface MirrorLink {
  /** Sends a change to the owner, or from the owner to every worker. */
  send(id: string, change: MirrorChange): void;
  /** Used by workers: fetches the full state from the owner, undefined without one. Null in the owner. */
  readonly fetch: ((id: string) => Promise<MirrorChange | undefined>) | null;
}

interface Copy {
  readonly value: unknown;
  readonly options: MirrorOptions<unknown, MirrorChange>;
  /** False until the copy has received the owner's full state, which includes all earlier changes. */
  complete: boolean;
}

/**
 * This process's copies of values that all processes share. Every change goes through the owner, which forwards it to
 * all workers; a single process forwards nothing.
 */
export class Mirrors {
  readonly #copies = new Map<string, Copy>();
  /** Link to the other processes; null for a single process. */
  link: MirrorLink | null = null;

  /** Creates a copy. @param id of the value. */
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

  /** Publishes a change of this process. */
  change(id: string, change: MirrorChange): void {
    // A worker's own change is not applied here: it returns from the owner, in the order in which all processes see the
    // changes.
    if (!this.link?.fetch) this.#apply(id, change);
    this.link?.send(id, change);
  }

  /** Applies a change from another process. @returns false if the value is unknown here. */
  receive(id: string, change: MirrorChange): boolean {
    return this.#apply(id, change);
  }

  /** Full state, for a process that starts; undefined if the value is unknown here. */
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
