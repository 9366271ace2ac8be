import type { DataObject } from '../values/data.ts';

/** A secret that a store has returned. */
export interface StoredSecret {
  /** A text, or fields from which a reference selects one. A text that contains JSON also has fields. */
  readonly content: string | DataObject;
  /** Lifetime of a secret that was issued for this gateway; absent for one that is only read. */
  readonly lease?: SecretLease;
}

/** Lifetime of an issued secret. */
export interface SecretLease {
  readonly id: string;
  /** Milliseconds until the secret expires. */
  readonly lifeMs: number;
  /** Whether `SecretStore.renew` can prolong the lease. */
  readonly isRenewable: boolean;
}

/**
 * A store of secrets, to which configurations refer with `${scheme:name#key}`. One process of the gateway uses the
 * store, and passes the values to the other processes. Messages of its errors are logged: they must not contain
 * secrets.
 */
export interface SecretStore {
  /** Interval at which secrets without a lease are fetched again, in milliseconds; 0 to never fetch them again. */
  readonly refreshMs: number;
  /** Time for which a starting gateway waits for the store, in milliseconds. Default: 0. */
  readonly startupMs?: number;
  /**
   * Fetches the secret with a name: the text between the scheme and the key.
   * @throws Error with the cause. A starting gateway does not repeat a `BackendError` with a status from 400 to 499, except 429.
   */
  fetch(name: string, signal: AbortSignal): Promise<StoredSecret> | StoredSecret;
  /** Prolongs a lease. @returns its new lifetime in milliseconds. @throws Error if it cannot be prolonged. */
  renew?(lease: SecretLease, signal: AbortSignal): Promise<number>;
  /**
   * Keeps the gateway's access to the store valid, for example by renewing a token. Called while the store is in use.
   * @throws Error if that failed; the function is called again after a pause.
   */
  keepAlive?(signal: AbortSignal): Promise<KeptAlive>;
}

/** Outcome of `SecretStore.keepAlive`. */
export interface KeptAlive {
  /** Milliseconds until the next call; infinite if no further call is needed. */
  readonly nextMs: number;
  /**
   * Whether the access was replaced. Secrets with a lease are then fetched again, because their leases end with the
   * previous access.
   */
  readonly endsLeases: boolean;
}
