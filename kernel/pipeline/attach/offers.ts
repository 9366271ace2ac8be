import type { Namespace, Offer, Plugin, Port } from '#contract';
import { offerAt, offeredAt, openScope, type PlaceScope } from '../../registry/container.ts';

/** Attaches a component that is not in the configuration to the root, with its defaults, to get the values that it offers to other plugins. */
export type AttachDefault = (namespace: Namespace) => void;

/** Values that plugins of an endpoint, backend or the service offer to other plugins, including those of the surrounding levels. */
export class Offers {
  #scope: PlaceScope;
  /** Whether this level has its own list of offers; the list is created with the first offer. */
  #isOwn: boolean;
  readonly #attachDefault: AttachDefault | undefined;
  /** Ports (exchange points between plugins) whose offers are not known, each with the reason. */
  readonly #unknown = new Map<string, Error>();
  /** Values that plugins at the root of the configuration offer to all plugins. */
  readonly root: Offers;

  private constructor(scope: PlaceScope, isOwn: boolean, attachDefault: AttachDefault | undefined, root?: Offers) {
    this.#scope = scope;
    this.#isOwn = isOwn;
    this.#attachDefault = attachDefault;
    this.root = root ?? this;
  }

  /**
   * Creates the list of values that plugins at the root offer, initially empty. @param attachDefault called for ports
   * at which no plugin offers a value.
   */
  static atRoot(scope: PlaceScope, attachDefault?: AttachDefault): Offers {
    return new Offers(scope, true, attachDefault);
  }

  /** Creates the list of an inner level, such as a backend inside this endpoint. */
  within(): Offers {
    return new Offers(this.#scope, false, this.#attachDefault, this.root);
  }

  /**
   * Adds a plugin's offers. @throws Error when the plugin does not declare a port it offers: plugins that take the
   * offer could otherwise be attached before it.
   */
  add(plugin: Plugin, offers: readonly Offer[] | undefined): void {
    for (const { port, value } of offers ?? []) {
      if (!names(plugin.offers, port)) throw undeclared(plugin, 'offers', port);
      if (!this.#isOwn) this.#scope = openScope(this.#scope);
      this.#isOwn = true;
      offerAt(this.#scope, port.name, value);
    }
  }

  /**
   * Marks a root plugin's offers as unknown because it was rejected or waits for a file. Plugins that take them fail
   * with the same error, which is reported once, and the offers are not reported as missing.
   */
  withhold(plugin: Plugin, reason: Error): void {
    for (const { name } of plugin.offers ?? []) this.root.#unknown.set(name, reason);
  }

  take<T>(plugin: Plugin, port: Port<T>): T | undefined {
    return this.takeAll(plugin, port).at(-1);
  }

  takeAll<T>(plugin: Plugin, port: Port<T>): readonly T[] {
    if (!names(plugin.takes, port)) throw undeclared(plugin, 'takes', port);
    const offered = offeredAt(this.#scope, port.name) as readonly T[];
    const reason = this.root.#unknown.get(port.name);
    if (reason && offered.length === 0) throw reason;
    if (offered.length > 0 || port.from === undefined || !this.#attachDefault) return offered;
    this.#attachDefault(port.from);
    return offeredAt(this.#scope, port.name) as readonly T[];
  }
}

/**
 * Sorts the plugins of one endpoint, backend or the service in the order in which their `attach` functions are called:
 * providers before the plugins that take their offers, otherwise in configuration order.
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
  return new Error(`plugin "${plugin.name}" must list the port "${name}" in "${list}"`);
}
