type Dispose = () => void | Promise<void>;

/** What one configuration acquired: released once, last in first out, whatever fails on the way. */
export class Scope {
  readonly #disposers: Dispose[] = [];
  #disposed = false;

  get size(): number {
    return this.#disposers.length;
  }

  defer(dispose: Dispose): void {
    if (this.#disposed) throw new Error('scope is already disposed of');
    this.#disposers.push(dispose);
  }

  /** @param onError told of each disposer that throws; the others still run. */
  async dispose(onError: (error: unknown) => void): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    while (this.#disposers.length > 0) {
      try {
        await this.#disposers.pop()!();
      } catch (error) {
        onError(error);
      }
    }
  }
}
