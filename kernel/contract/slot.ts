import type { DataObject } from '../values/data.ts';

/** A typed slot of a call in which one plugin stores a value for another. Compared by name. */
export interface Slot<T> {
  readonly name: string;
  /** Only carries the type parameter for the compiler; has no value. */
  readonly type?: T;
}

export function defineSlot<T>(name: string): Slot<T> {
  return Object.freeze({ name });
}

/**
 * Hosts that the attempts of one backend call were sent to. `AtBackend.attempts` adds an empty list to the call; the
 * selection of a host avoids the hosts in the list, and appends the selected one. Each attempt needs a copy of the
 * request.
 */
export const triedHosts: Slot<string[]> = defineSlot('tried hosts');

/** Claims of the validated token, for `{JWT.claim}` placeholders and other readers. */
export const claimsSlot: Slot<Readonly<DataObject>> = defineSlot('claims');
