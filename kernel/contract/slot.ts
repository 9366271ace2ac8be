import type { DataObject } from '../values/data.ts';

/** A typed place on a call where one plugin leaves a value for another. Compared by name. */
export interface Slot<T> {
  readonly name: string;
  /** Never set: carries the type. */
  readonly type?: T;
}

export function defineSlot<T>(name: string): Slot<T> {
  return Object.freeze({ name });
}

/** The claims of the validated token, for `{JWT.claim}` placeholders and everything else that reads them. */
export const claimsSlot: Slot<Readonly<DataObject>> = defineSlot('claims');
