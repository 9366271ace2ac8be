import type { ConfigError, SecretLease, StoredSecret } from '#contract';
import type { SecretReference, SecretValues } from '../../config/index.ts';
import type { OpenStores } from './open-stores.ts';
import { selectValue } from './secret-value.ts';

/** A task that is repeated while a configuration serves. */
export interface Due {
  /** Name of the task in messages. */
  readonly id: string;
  /** Time of the next attempt, on the clock of the timers; infinite for none. */
  dueAt: number;
  /** Number of failed attempts in a row, and the last reason. */
  failures: number;
  failure: string | null;
}

/** The task of keeping the access to a store alive. Its id is the scheme. */
export type Upkeep = Due;

/** A secret as last fetched. Its ID is `scheme:name`. */
export interface KnownSecret extends Due {
  readonly name: string;
  readonly scheme: string;
  /** Identity of the store: stores with the same identity return the same secrets. */
  readonly identity: string;
  readonly content: StoredSecret['content'];
  readonly lease: SecretLease | null;
  /** End of the lease, on the clock of the timers; infinite without a lease. */
  readonly endsAt: number;
}

/** Secrets of one configuration. */
export interface HeldSecrets {
  readonly references: readonly SecretReference[];
  readonly stores: OpenStores;
  /** Secrets as last fetched, which may be newer than `values`. */
  readonly known: Map<string, KnownSecret>;
  readonly upkeep: readonly Upkeep[];
  /** Values that the configuration is built with. */
  readonly values: SecretValues;
  /** Fetched values that a rollback replaced with earlier ones. They are not applied again automatically. */
  readonly declined: SecretValues;
  /** Warnings of secrets that could not be fetched. */
  readonly warnings: readonly ConfigError[];
}

/** Id of the secret that a reference belongs to. */
export function secretOf({ scheme, name }: Pick<SecretReference, 'scheme' | 'name'>): string {
  return `${scheme}:${name}`;
}

/**
 * The references whose fetched values differ from the values in use, with the fetched values. Values that cannot be
 * used are omitted.
 */
export function changedValues({ references, known, values, declined }: HeldSecrets): Map<string, string> {
  const changed = new Map<string, string>();
  for (const reference of references) {
    const secret = known.get(secretOf(reference));
    if (!secret) continue;
    try {
      const value = selectValue(reference, secret);
      if (value !== values.get(reference.id) && value !== declined.get(reference.id)) changed.set(reference.id, value);
    } catch {
      // The field is missing now: the value in use stays.
    }
  }
  return changed;
}
