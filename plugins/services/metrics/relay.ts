import { randomUUID } from 'node:crypto';
import type { Data, Site } from '#contract';
import { type InstrumentChange, MetricStore } from './metric-store.ts';

/** How often a worker hands over what it has counted, in milliseconds: what exporters show is no older. */
const RELAY_MS = 1000;
/** Workers whose last message the owner remembers. */
const MAX_SENDERS = 256;

/** How what a worker has counted comes to the process that shows it. */
export interface Relay<T, Change> {
  open(): T;
  /** What was counted since the last time; everything then starts anew. */
  take(value: T): Change;
  /** Adds what another process has counted. */
  merge(value: T, change: Change, from: string): void;
  close?(value: T): void;
}

/** What a worker has counted. A message that comes twice counts once. */
interface Message<Change> {
  readonly from: string;
  readonly number: number;
  readonly change: Change;
}

/** A value that counts, and what goes with it from process to process. */
interface Relayed<T, Change> {
  readonly value: T;
  /** Of the owner: the last message of each worker. */
  readonly last: Map<string, number>;
  /** Of a worker: what the owner has not confirmed yet. */
  pending: Message<Change> | null;
  /** Resolves when it is confirmed, or is to be sent again. */
  sending: Promise<void> | null;
  sent: number;
  readonly from: string;
}

type RelaySite = Pick<Site<unknown>, 'keep' | 'share' | 'start' | 'defer' | 'role'>;

/**
 * What counts for a gateway: kept over reloads, and in the process that owns it what all processes have counted, once. A
 * worker that dies loses what it counted in the last second.
 * @param key as of `Site.keep`.
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
    // Two configurations may have the value for a while.
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

/** Sends what was counted. What cannot be sent waits for the next time; it is one message at most. */
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
    // The owner is gone or serves another configuration: the next one asks again.
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

/** The metrics of a gateway. @param open makes the store, with whatever observes for it. */
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
