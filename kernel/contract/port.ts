import type { Namespace } from './extra-config.ts';

/**
 * A typed place where one plugin hands something to another: checks of claims to the token validator, a pool of
 * connections to whatever counts in it. Compared by name.
 */
export interface Port<T> {
  readonly name: string;
  /** The component that offers here also where no configuration names it: it then stands at the root with its defaults. */
  readonly from?: Namespace;
  /** Never set: carries the type. */
  readonly type?: T;
}

/**
 * @param options.from who offers here where nobody else does: an engine that needs no configuration.
 * @example const celPort = definePort<CelEngine>('cel', { from: 'validation/cel' });
 */
export function definePort<T>(name: string, options: { readonly from?: Namespace } = {}): Port<T> {
  return Object.freeze({ name, ...options });
}

/** Something handed over at a port. */
export interface Offer {
  readonly port: Port<unknown>;
  readonly value: unknown;
}

/** Hands a value over: an attachment lists what it offers, and its plugin names the port in `offers`. */
export function offer<T>(port: Port<T>, value: T): Offer {
  return { port, value };
}
