import { setTimeout as delay } from 'node:timers/promises';
import {
  BackendError,
  isObject,
  type KeptAlive,
  type Log,
  type SecretLease,
  type SecretStore,
  type StoredSecret,
} from '#contract';
import { fileErrorReason } from '../../contract/internal.ts';
import { untilAborted } from '../../values/until-aborted.ts';
import type { OpenStore } from './open-stores.ts';

/** Maximum number of secrets that are fetched at a time. */
const PARALLEL = 8;
/** Maximum time for one secret, in milliseconds. */
const FETCH_MS = 10_000;
/** First and longest pause between attempts of a starting gateway, in milliseconds. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4_000;

/** A secret to fetch. */
export interface Wanted {
  /** Scheme and name of the secret, as `scheme:name`. */
  readonly id: string;
  readonly name: string;
  readonly open: OpenStore;
}

/** Outcome of fetching a secret. */
export type Fetched = { readonly secret: StoredSecret } | { readonly error: Error };

/** Fetches one secret, in bounded time. @throws Error with the cause, or the reason of the signal. */
export async function fetchSecret({ name, open }: Wanted, signal: AbortSignal): Promise<StoredSecret> {
  const secret = await bounded(signal, async (ended) => open.store.fetch(name, ended));
  if (typeof secret?.content !== 'string' && !isObject(secret?.content)) throw new Error('it has no content');
  return secret;
}

/** Prolongs a lease, in bounded time. @returns its lifetime in milliseconds. @throws Error as `fetchSecret`. */
export function renewLease(store: SecretStore, lease: SecretLease, signal: AbortSignal): Promise<number> {
  return bounded(signal, async (ended) => store.renew!(lease, ended));
}

/** Keeps the access to a store alive, in bounded time. @throws Error as `fetchSecret`. */
export function keepStoreAlive(store: SecretStore, signal: AbortSignal): Promise<KeptAlive> {
  return bounded(signal, async (ended) => store.keepAlive!(ended));
}

async function bounded<T>(signal: AbortSignal, run: (ended: AbortSignal) => Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(FETCH_MS);
  const ended = AbortSignal.any([signal, late]);
  try {
    return await untilAborted(run(ended), ended);
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) throw new Error(`no response within ${FETCH_MS / 1000} s`);
    if (error instanceof BackendError) throw error;
    throw new Error(fileErrorReason(error), { cause: error });
  }
}

/**
 * Fetches secrets, several at a time.
 * @param isStart retries for as long as each store allows a starting gateway to wait.
 * @throws the reason of the signal.
 */
export async function fetchAll(
  wanted: readonly Wanted[],
  isStart: boolean,
  signal: AbortSignal,
  log: Log,
): Promise<ReadonlyMap<string, Fetched>> {
  const results = new Map<string, Fetched>();
  await severalAtATime(wanted, async (one) => {
    results.set(one.id, await fetchPatiently(one, isStart, signal, log));
  });
  return results;
}

/** Runs a function for each item, for as many at a time as secrets are fetched. */
export async function severalAtATime<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const work = async (): Promise<void> => {
    for (const item of left) await run(item);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, items.length) }, work));
}

async function fetchPatiently(wanted: Wanted, isStart: boolean, signal: AbortSignal, log: Log): Promise<Fetched> {
  const endsAt = performance.now() + (isStart ? (wanted.open.store.startupMs ?? 0) : 0);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return { secret: await fetchSecret(wanted, signal) };
    } catch (error) {
      signal.throwIfAborted();
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0 || isFinal(error)) return { error: error as Error };
      log.warning(`waiting for the secret ${wanted.id}: ${(error as Error).message}`);
      await delay(Math.min(pauseMs, leftMs), undefined, { signal, ref: false });
    }
  }
}

/** True if a repeated request would get the same response. */
function isFinal(error: unknown): boolean {
  const status = error instanceof BackendError ? (error.upstreamStatus ?? 0) : 0;
  return status >= 400 && status < 500 && status !== 429;
}
