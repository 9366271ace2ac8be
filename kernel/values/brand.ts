type Class = (abstract new (...parameters: never[]) => object) & { readonly prototype: object };

/**
 * Lets `instanceof` know the instances that another copy of this package has made: a plugin that was installed with one of
 * its own throws errors that the gateway knows. Subclasses that plugins declare are told apart as ever.
 */
export function brand(classes: { readonly [name: string]: Class }): void {
  for (const [name, branded] of Object.entries(classes)) {
    const mark = Symbol.for(`sluice.${name}`);
    Object.defineProperty(branded.prototype, mark, { value: true });
    Object.defineProperty(branded, Symbol.hasInstance, {
      value(this: unknown, value: unknown): boolean {
        if (this !== branded) return Function.prototype[Symbol.hasInstance].call(this as Class, value);
        return typeof value === 'object' && value !== null && (value as { [key: symbol]: unknown })[mark] === true;
      },
    });
  }
}
