/** The variables of one template by name; each declaration has its own slot. */
export class Variables {
  readonly #visible: { readonly name: string; readonly slot: number }[] = [{ name: '$', slot: 0 }];
  #slots = 1;

  /** Number of variables declared so far, including `$`. */
  get slots(): number {
    return this.#slots;
  }

  declare(name: string): number {
    const slot = this.#slots++;
    this.#visible.push({ name, slot });
    return slot;
  }

  /** @returns undefined for an undeclared variable. */
  slotOf(name: string): number | undefined {
    return this.#visible.findLast((variable) => variable.name === name)?.slot;
  }

  /** Runs a function in a scope of its own: variables declared in it end with it. */
  scoped<T>(read: () => T): T {
    const { length } = this.#visible;
    const result = read();
    this.#visible.length = length;
    return result;
  }
}
