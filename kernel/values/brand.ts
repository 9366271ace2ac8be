type Class = (abstract new (...parameters: never[]) => object) & { readonly prototype: object };

/**
 * Makes `instanceof` recognize instances created by another copy of this package: the gateway recognizes errors thrown
 * by a plugin that was installed with its own copy. Subclasses declared by plugins are still distinguished as usual.
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
