import type { Namespace } from './extra-config.ts';

/**
 * A typed exchange of values between plugins, for example token checks for the validator or connection pools for
 * counters. Compared by name.
 */
export interface Port<T> {
  readonly name: string;
  /**
   * Component that provides a value even if no configuration names it: the component is then attached at the root with
   * its defaults.
   */
  readonly from?: Namespace;
  /** Only carries the type parameter for the compiler; has no value. */
  readonly type?: T;
}

/**
 * @param options.from component that offers a value if no other does: an engine that needs no configuration.
 * @example const celPort = definePort<CelEngine>('cel', { from: 'validation/cel' });
 */
export function definePort<T>(name: string, options: { readonly from?: Namespace } = {}): Port<T> {
  return Object.freeze({ name, ...options });
}

/** A value offered at a port. */
export interface Offer {
  readonly port: Port<unknown>;
  readonly value: unknown;
}

/**
 * Offers a value to other plugins. The result must be in the `offers` of the attachment, and the port in the `offers`
 * of the plugin.
 */
export function offer<T>(port: Port<T>, value: T): Offer {
  return { port, value };
}
