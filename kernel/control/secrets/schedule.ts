import type { StoredSecret } from '#contract';
import type { Due, KnownSecret, Upkeep } from './held-secrets.ts';
import type { OpenStore } from './open-stores.ts';

/** Share of a lease's lifetime after which the lease is renewed. */
const RENEW_AT = 2 / 3;
/**
 * Minimum share of its first lifetime for which a lease must be renewed. A lease that gets less is about to end and is
 * replaced.
 */
const WORTH_RENEWING = 1 / 2;
/**
 * Maximum share of an interval by which it is shortened at random, so that several gateways do not fetch at the same
 * time.
 */
const JITTER = 0.1;
/** First and longest pause after a failure, in milliseconds. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** Records a fetched secret, with the time at which it is due again. */
export function knownSecret(
  id: string,
  name: string,
  { store, identity }: OpenStore,
  { content, lease = undefined }: StoredSecret,
  now: number,
): KnownSecret {
  const interval = lease ? lease.lifeMs * RENEW_AT : store.refreshMs;
  return {
    id,
    name,
    scheme: id.slice(0, id.indexOf(':')),
    identity,
    content,
    lease: lease ?? null,
    endsAt: lease ? now + lease.lifeMs : Number.POSITIVE_INFINITY,
    dueAt: interval > 0 ? now + jittered(interval) : Number.POSITIVE_INFINITY,
    failures: 0,
    failure: null,
  };
}

/** Returns the secret with its lease prolonged. */
export function renewed(secret: KnownSecret, lifeMs: number, now: number): KnownSecret {
  const lease = secret.lease!;
  const isRenewable = lifeMs > lease.lifeMs * WORTH_RENEWING;
  return {
    ...secret,
    lease: { ...lease, isRenewable },
    endsAt: now + lifeMs,
    dueAt: now + jittered(lifeMs * RENEW_AT),
    failures: 0,
    failure: null,
  };
}

/** Records a failure, and sets the time of the next attempt. */
export function noteFailure(task: Due, reason: string, now: number): void {
  task.failure = reason;
  task.dueAt = now + jittered(Math.min(FIRST_PAUSE_MS * 2 ** task.failures, LONGEST_PAUSE_MS));
  task.failures++;
}

/** Creates the task that keeps the access to a store valid; its first attempt is still to come. */
export function upkeepOf(id: string, dueAt: number): Upkeep {
  return { id, dueAt, failures: 0, failure: null };
}

/** Shortens a delay by a random share of it. */
function jittered(ms: number): number {
  return ms * (1 - JITTER * Math.random());
}
