import { randomUUID } from 'node:crypto';
import type { Data, Site } from '#contract';
import { type InstrumentChange, MetricStore } from './store.ts';

/** Interval at which a worker reports its counts, in milliseconds: exported values are at most this old. */
const RELAY_MS = 1000;
/** Maximum number of workers whose last message number the owner remembers. */
const MAX_SENDERS = 256;

/** Transfer of a worker's counts to the process that exports them. */
export interface Relay<T, Change> {
  open(): T;
  /** Returns the counts since the last call, and resets them. */
  take(value: T): Change;
  /** Adds the counts of another process. */
  merge(value: T, change: Change, from: string): void;
  close?(value: T): void;
}

/** Counts of a worker. A message that is received twice is counted once. */
interface Message<Change> {
  readonly from: string;
  readonly number: number;
  readonly change: Change;
}

/** A shared value with its state for transfer between processes. */
interface Relayed<T, Change> {
  readonly value: T;
  /** Number of the last message of each worker. Used in the process that owns the value. */
  readonly last: Map<string, number>;
  /** Message that the owner has not confirmed yet. Used in workers. */
  pending: Message<Change> | null;
  /** Resolves when the message is confirmed, or must be sent again. */
  sending: Promise<void> | null;
  sent: number;
  readonly from: string;
}

type RelaySite = Pick<Site<unknown>, 'keep' | 'share' | 'start' | 'defer' | 'role'>;

/**
 * A value with the counts of a gateway, kept across reloads; in the process that owns it, the value contains the counts
 * of all processes. A worker that crashes loses the counts of the last second.
 * @param key as for `Site.keep`.
 */
export function relayed<T, Change>(site: RelaySite, key: Data, relay: Relay<T, Change>): T {
  const make = (): Relayed<T, Change> => ({
    value: relay.open(),
    last: new Map(),
    pending: null,
    sending: null,
    sent: 0,
    from: randomUUID(),
  });
  const end = ({ value }: Relayed<T, Change>) => relay.close?.(value);
  const receive = (owned: Relayed<T, Change>, message: Data): Data => {
    const { from, number, change } = message as unknown as Message<Change>;
    if (isNew(owned.last, from, number)) relay.merge(owned.value, change, from);
    return null;
  };
  const ask = site.share(key, make, receive, end);
  const kept = site.keep(key, make, end);
  if (site.role === 'worker') {
    // During a reload, two configurations may share the value for some time.
    const handOver = (): Promise<void> => {
      kept.sending ??= send(kept, relay, ask).finally(() => {
        kept.sending = null;
      });
      return kept.sending;
    };
    site.start(
      (signal) => {
        const timer = setInterval(handOver, RELAY_MS);
        timer.unref();
        signal.addEventListener('abort', () => clearInterval(timer));
      },
      { in: 'each' },
    );
    site.defer(handOver);
  }
  return kept.value;
}

/** Sends the counts. On failure they are kept for the next time; at most one message is kept. */
async function send<T, Change>(
  kept: Relayed<T, Change>,
  relay: Relay<T, Change>,
  ask: (message: Data) => Data | Promise<Data>,
): Promise<void> {
  if (!kept.pending) {
    kept.sent += 1;
    kept.pending = { from: kept.from, number: kept.sent, change: relay.take(kept.value) };
  }
  try {
    await ask(kept.pending as unknown as Data);
    kept.pending = null;
  } catch {
    // The owner is gone or serves another configuration, so the message is sent again next time.
  }
}

function isNew(last: Map<string, number>, from: string, number: number): boolean {
  if ((last.get(from) ?? 0) >= number) return false;
  last.delete(from);
  last.set(from, number);
  if (last.size > MAX_SENDERS) last.delete(last.keys().next().value!);
  return true;
}

interface StoreChange {
  readonly changes: readonly InstrumentChange[];
  readonly gauges: Readonly<Record<string, number>>;
}

/** The metrics of a gateway. @param open creates the store and the observers that fill it. */
export function gatewayMetrics(
  site: RelaySite,
  key: Data,
  open: () => MetricStore = () => new MetricStore(),
): MetricStore {
  return relayed<MetricStore, StoreChange>(site, key, {
    open,
    take: (store) => ({ changes: store.take(), gauges: store.gauges() }),
    merge(store, { changes, gauges }, from) {
      store.merge(changes);
      store.mergeGauges(from, gauges);
    },
    close: (store) => store.close(),
  });
}
