/** The variables of one template by their names; each declaration has a slot of its own. */
export class Variables {
  readonly #visible: { readonly name: string; readonly slot: number }[] = [{ name: '$', slot: 0 }];
  #slots = 1;

  /** Declared so far, `$` included. */
  get slots(): number {
    return this.#slots;
  }

  declare(name: string): number {
    const slot = this.#slots++;
    this.#visible.push({ name, slot });
    return slot;
  }

  /** @returns undefined for a variable that is not declared here. */
  slotOf(name: string): number | undefined {
    return this.#visible.findLast((variable) => variable.name === name)?.slot;
  }

  /** Runs something whose variables end with it. */
  scoped<T>(read: () => T): T {
    const { length } = this.#visible;
    const result = read();
    this.#visible.length = length;
    return result;
  }
}
