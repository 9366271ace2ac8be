import type { DataObject } from '../values/data.ts';

/** A typed slot of a call in which one plugin stores a value for another. Compared by name. */
export interface Slot<T> {
  readonly name: string;
  /** Never set: carries the type. */
  readonly type?: T;
}

export function defineSlot<T>(name: string): Slot<T> {
  return Object.freeze({ name });
}

/** Claims of the validated token, for `{JWT.claim}` placeholders and other readers. */
export const claimsSlot: Slot<Readonly<DataObject>> = defineSlot('claims');
