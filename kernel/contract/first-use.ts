/**
 * A value that is made at first use, once for all callers, such as a library that is imported then. A failure is not
 * kept: otherwise a process that was out of file descriptors at that moment could never load the library again.
 */
export class FirstUse<T> {
  readonly #make: () => Promise<T>;
  #made: Promise<T> | null = null;

  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  /** Returns the value; rejects if it cannot be made this time. */
  get(): Promise<T> {
    this.#made ??= this.#make().catch((error: unknown) => {
      this.#made = null;
      throw error;
    });
    return this.#made;
  }

  /** The value, without making it: null before the first use and after a failed one. Never rejects. */
  async made(): Promise<T | null> {
    return this.#made?.catch(() => null) ?? null;
  }
}
