import type { Log } from '#contract';
import type { SecretValues } from '../../config/index.ts';
import { runAs } from '../../contract/internal.ts';
import type { Timers } from '../../runtime/watch/timers.ts';
import type { Change } from '../change.ts';
import { fetchSecret, keepStoreAlive, renewLease, severalAtATime } from './fetch-secrets.ts';
import { changedValues, type Due, type HeldSecrets, type KnownSecret, type Upkeep } from './held-secrets.ts';
import { type Resolving, resolveSecrets } from './resolve-secrets.ts';
import { knownSecret, noteFailure, renewed, upkeepOf } from './schedule.ts';

/** Shortest time between two refreshes, in milliseconds: secrets that are due at about the same time are fetched together. */
const TOGETHER_MS = 50;

/** State of the secrets from stores, without their values. */
export interface SecretsState {
  /** Number of secrets in use. */
  readonly inUse: number;
  /** Secrets whose last renewal or fetch failed, and stores whose access could not be kept, with the reason. */
  readonly failing: readonly { readonly secret: string; readonly reason: string }[];
  /** Successful and failed fetches and renewals since the start, by scheme and result. */
  readonly counts: readonly { readonly scheme: string; readonly result: 'ok' | 'failed'; readonly count: number }[];
}

export interface SecretKeeperOptions {
  readonly log: Log;
  /** Applies the configuration again, with the secrets as last fetched. */
  readonly rebuild: (change: Change) => Promise<unknown>;
  readonly timers: Timers;
}

/**
 * Secrets of the serving configuration: renews their leases, fetches the others at intervals, and rebuilds the
 * configuration when a value has changed. While a store is unavailable, the current values stay in use.
 */
export class SecretKeeper {
  readonly #options: SecretKeeperOptions;
  readonly #timers: Timers;
  readonly #counts = new Map<string, { scheme: string; result: 'ok' | 'failed'; count: number }>();
  #serving: HeldSecrets | null = null;
  /**
   * Repeats a rejected rebuild after a pause, because a lease that is about to end cannot wait for the next refresh.
   */
  #retry = upkeepOf('rotation', Number.POSITIVE_INFINITY);
  #cancel: () => void = () => {};
  #stop = new AbortController();

  constructor(options: SecretKeeperOptions) {
    this.#options = options;
    this.#timers = options.timers;
  }

  /** Values of the serving configuration; null without references. */
  get values(): SecretValues | null {
    return this.#serving?.values ?? null;
  }

  get state(): SecretsState {
    const failing = tasksOf(this.#serving).flatMap(({ id, failure }) =>
      failure === null ? [] : [{ secret: id, reason: failure }],
    );
    return { inUse: this.#serving?.known.size ?? 0, failing, counts: [...this.#counts.values()] };
  }

  /** Finds the values of a document's references to secrets. The result must be adopted or released. */
  async resolve(
    document: unknown,
    resolving: Omit<Resolving, 'timers' | 'log' | 'serving'>,
  ): Promise<HeldSecrets | null> {
    const { log } = this.#options;
    return resolveSecrets(document, { ...resolving, timers: this.#timers, log, serving: this.#serving });
  }

  /** Uses the secrets of a configuration that begins to serve. */
  adopt(held: HeldSecrets | null): void {
    const before = this.#serving;
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#serving = held;
    this.#retry = upkeepOf('rotation', Number.POSITIVE_INFINITY);
    this.#schedule();
    if (before) void before.stores.close();
  }

  async release(held: HeldSecrets | null): Promise<void> {
    await held?.stores.close();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#cancel();
    const held = this.#serving;
    this.#serving = null;
    await held?.stores.close();
  }

  #schedule(): void {
    this.#cancel();
    this.#cancel = () => {};
    const held = this.#serving;
    if (!held) return;
    let { dueAt } = this.#retry;
    for (const task of tasksOf(held)) dueAt = Math.min(dueAt, task.dueAt);
    if (!Number.isFinite(dueAt)) return;
    const { signal } = this.#stop;
    const waitMs = Math.max(dueAt - this.#timers.now(), TOGETHER_MS);
    const refresh = () => void this.#refresh(held, signal).finally(() => signal.aborted || this.#schedule());
    this.#cancel = this.#timers.after(waitMs, () => runAs('secrets', 'secrets of the configuration', refresh));
  }

  /** Renews or fetches the secrets that are due, then applies the values that have changed. */
  async #refresh(held: HeldSecrets, signal: AbortSignal): Promise<void> {
    this.#retry.dueAt = Number.POSITIVE_INFINITY;
    const isDue = ({ dueAt }: Due) => dueAt <= this.#timers.now() + TOGETHER_MS;
    for (const task of held.upkeep.filter(isDue)) await this.#keepAlive(held, task, signal);
    const due = [...held.known.values()].filter(isDue);
    await severalAtATime(due, async (secret) => {
      const next = signal.aborted ? null : await this.#next(held, secret, signal);
      if (next) held.known.set(next.id, next);
    });
    if (signal.aborted) return;
    const changed = [...changedValues(held).keys()];
    if (changed.length === 0) return;
    const names = changed.slice(0, 5).join(', ');
    const message = `rotated secrets: ${names}${changed.length > 5 ? ` and ${changed.length - 5} more` : ''}`;
    this.#options.log.info(message);
    // A rejection is already reported as an event and in the log; the change is repeated after a pause.
    await this.#options
      .rebuild({ trigger: 'secret', asServed: true, message })
      .catch((error: Error) => noteFailure(this.#retry, error.message, this.#timers.now()));
  }

  /** @returns the secret as it is now; null after a failure, which is recorded. */
  async #next(held: HeldSecrets, secret: KnownSecret, signal: AbortSignal): Promise<KnownSecret | null> {
    const { id, name, scheme } = secret;
    const open = held.stores.of(scheme);
    return this.#attempt(secret, scheme, signal, async () => {
      const lifeMs = await this.#renewal(held, secret, signal);
      if (lifeMs !== null) return renewed(secret, lifeMs, this.#timers.now());
      return knownSecret(id, name, open, await fetchSecret({ id, name, open }, signal), this.#timers.now());
    });
  }

  async #keepAlive(held: HeldSecrets, task: Upkeep, signal: AbortSignal): Promise<void> {
    const { store } = held.stores.of(task.id);
    const kept = await this.#attempt(task, task.id, signal, () => keepStoreAlive(store, signal));
    if (!kept) return;
    const now = this.#timers.now();
    Object.assign(task, { dueAt: now + kept.nextMs, failures: 0, failure: null });
    if (!kept.endsLeases) return;
    for (const [id, secret] of held.known) {
      if (secret.scheme === task.id && secret.lease) held.known.set(id, { ...secret, lease: null, dueAt: now });
    }
  }

  /** Runs a task. @returns null after a failure, which is recorded. */
  async #attempt<T>(task: Due, scheme: string, signal: AbortSignal, run: () => Promise<T>): Promise<T | null> {
    const { log } = this.#options;
    const { id, failures } = task;
    try {
      const result = await run();
      this.#note(scheme, 'ok');
      if (failures > 0) log.info(`secrets: ${id} is available again`);
      return result;
    } catch (error) {
      if (signal.aborted) return null;
      this.#note(scheme, 'failed');
      const { message } = error as Error;
      noteFailure(task, message, this.#timers.now());
      if (failures === 0) log.warning(`secrets: ${id} is not available: ${message}; the values in use stay`);
      return null;
    }
  }

  /** @returns the prolonged lifetime of a lease, in milliseconds; null if the secret must be fetched. */
  async #renewal(held: HeldSecrets, { scheme, lease }: KnownSecret, signal: AbortSignal): Promise<number | null> {
    const { store } = held.stores.of(scheme);
    if (!lease?.isRenewable || !store.renew) return null;
    return renewLease(store, lease, signal).catch((error: Error) => {
      this.#options.log.debug(
        `secrets: a lease of the store "${scheme}" was not renewed, so its secret is fetched again: ${error.message}`,
      );
      return null;
    });
  }

  #note(scheme: string, result: 'ok' | 'failed'): void {
    const key = `${scheme} ${result}`;
    const counted = this.#counts.get(key) ?? { scheme, result, count: 0 };
    counted.count++;
    this.#counts.set(key, counted);
  }
}

/** All tasks that are repeated while a configuration is active. */
function tasksOf(held: HeldSecrets | null): readonly Due[] {
  return held ? [...held.upkeep, ...held.known.values()] : [];
}
