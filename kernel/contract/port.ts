/**
 * A typed place where one plugin hands something to another: checks of claims to the token validator, a pool of
 * connections to whatever counts in it. Compared by name.
 */
export interface Port<T> {
  readonly name: string;
  /** Never set: carries the type. */
  readonly type?: T;
}

export function definePort<T>(name: string): Port<T> {
  return Object.freeze({ name });
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
