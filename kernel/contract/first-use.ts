/**
 * A value that is created on first use, once for all callers, such as an imported library. A failure is not kept:
 * otherwise a process that was out of file descriptors at that moment could never load the library again.
 */
export class FirstUse<T> {
  readonly #make: () => Promise<T>;
  #made: Promise<T> | null = null;

  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  /** Returns the value; rejects if this attempt to create it fails. */
  get(): Promise<T> {
    this.#made ??= this.#make().catch((error: unknown) => {
      this.#made = null;
      throw error;
    });
    return this.#made;
  }

  /** Returns the value without creating it: null before the first use and after a failed one. Never rejects. */
  async made(): Promise<T | null> {
    return this.#made?.catch(() => null) ?? null;
  }
}
