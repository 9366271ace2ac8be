type Dispose = () => void | Promise<void>;

/** Resources of one configuration: released once, last in first out, even if some releases fail. */
export class Scope {
  /** Created with the first disposer, because there are many scopes with one or two disposers each. */
  #disposers: Dispose[] | null = null;
  #disposed = false;

  get size(): number {
    return this.#disposers?.length ?? 0;
  }

  defer(dispose: Dispose): void {
    if (this.#disposed) throw new Error('scope is already disposed of');
    if (this.#disposers) this.#disposers.push(dispose);
    else this.#disposers = [dispose];
  }

  /** @param onError called for each disposer that throws; the others still run. */
  async dispose(onError: (error: unknown) => void): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    const disposers = this.#disposers ?? [];
    while (disposers.length > 0) {
      try {
        const disposed = disposers.pop()!();
        if (disposed instanceof Promise) await soon(disposed);
      } catch (error) {
        onError(error);
      }
    }
  }
}

/** Longest wait for one disposer, in milliseconds. */
const DISPOSE_MS = 5_000;

function soon(disposed: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`it took longer than ${DISPOSE_MS} ms`)), DISPOSE_MS);
    disposed.then(resolve, reject).finally(() => clearTimeout(late));
  });
}
