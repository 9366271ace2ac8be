import type { Offer, Plugin, Port } from '#contract';

/** What plugins offer one another at one place and around it. */
export class Offers {
  readonly #around: Offers | null;
  #here: Offer[] | null = null;

  constructor(around: Offers | null = null) {
    this.#around = around;
  }

  /** @throws Error when the plugin does not name a port it offers something at: others could be attached too early. */
  add(plugin: Plugin, offers: readonly Offer[] | undefined): void {
    for (const made of offers ?? []) {
      if (!names(plugin.offers, made.port)) throw undeclared(plugin, 'offers', made.port);
      this.#here ??= [];
      this.#here.push(made);
    }
  }

  take<T>(plugin: Plugin, port: Port<T>): T | undefined {
    return this.takeAll(plugin, port).at(-1);
  }

  takeAll<T>(plugin: Plugin, port: Port<T>): readonly T[] {
    if (!names(plugin.takes, port)) throw undeclared(plugin, 'takes', port);
    return this.#all(port.name) as readonly T[];
  }

  #all(name: string): readonly unknown[] {
    const around = this.#around ? this.#around.#all(name) : [];
    if (!this.#here) return around;
    return [...around, ...this.#here.filter(({ port }) => port.name === name).map(({ value }) => value)];
  }
}

/**
 * The plugins of one place in the order in which they are attached: who offers something before those who take it, and
 * otherwise as they are written.
 */
export function byDependency<T extends { readonly plugin: Plugin }>(items: readonly T[]): readonly T[] {
  if (!items.some(({ plugin }) => plugin.takes)) return items;
  const ordered = new Set<T>();
  const visit = (item: T, dependents: readonly T[]): void => {
    if (ordered.has(item) || dependents.includes(item)) return;
    for (const port of item.plugin.takes ?? []) {
      for (const other of items) if (names(other.plugin.offers, port)) visit(other, [...dependents, item]);
    }
    ordered.add(item);
  };
  for (const item of items) visit(item, []);
  return [...ordered];
}

function names(ports: readonly Port<unknown>[] | undefined, { name }: Port<unknown>): boolean {
  return ports?.some((port) => port.name === name) ?? false;
}

function undeclared(plugin: Plugin, list: 'offers' | 'takes', { name }: Port<unknown>): Error {
  return new Error(`plugin "${plugin.name}" does not name the port "${name}" in "${list}"`);
}
