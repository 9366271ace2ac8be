import { randomUUID } from 'node:crypto';
import type { Data, Site } from '#contract';
import { type InstrumentChange, MetricStore } from './metric-store.ts';

/** How often a worker hands over what it has counted, in milliseconds: what exporters show is no older. */
const RELAY_MS = 1000;
/** Workers whose last message the owner remembers. */
const MAX_SENDERS = 256;

/** What a worker has counted. A message that comes twice counts once. */
interface Message {
  readonly from: string;
  readonly number: number;
  readonly changes: readonly InstrumentChange[];
  readonly gauges: Readonly<Record<string, number>>;
}

/** A store, and what goes with it from process to process. */
interface Relayed {
  readonly store: MetricStore;
  /** Of the owner: the last message of each worker. */
  readonly last: Map<string, number>;
  /** Of a worker: what the owner has not confirmed yet. */
  pending: Message | null;
  /** Resolves when it is confirmed, or is to be sent again. */
  sending: Promise<void> | null;
  sent: number;
  readonly from: string;
}

/**
 * The store of a gateway: kept over reloads, and in the process that owns it what all processes have counted, each value
 * once. A worker that dies loses what it counted in the last second.
 *
 * @param key as of `Site.keep`. @param open makes the store, with whatever observes for it.
 */
export function gatewayMetrics(
  site: Pick<Site<unknown>, 'keep' | 'share' | 'start' | 'defer' | 'role'>,
  key: Data,
  open: () => MetricStore = () => new MetricStore(),
): MetricStore {
  const make = (): Relayed => ({
    store: open(),
    last: new Map(),
    pending: null,
    sending: null,
    sent: 0,
    from: randomUUID(),
  });
  const end = ({ store }: Relayed) => store.close();
  const ask = site.share(key, make, (relayed, message: Data) => receive(relayed, message as unknown as Message), end);
  const kept = site.keep(key, make, end);
  if (site.role === 'worker') {
    // Two configurations may have the store for a while.
    const handOver = (): Promise<void> => {
      kept.sending ??= send(kept, ask).finally(() => {
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
  return kept.store;
}

/** Sends what was counted. What cannot be sent waits for the next time; it is one message at most. */
async function send(kept: Relayed, ask: (message: Data) => Data | Promise<Data>): Promise<void> {
  if (!kept.pending) {
    kept.sent += 1;
    kept.pending = { from: kept.from, number: kept.sent, changes: kept.store.take(), gauges: kept.store.gauges() };
  }
  try {
    await ask(kept.pending as unknown as Data);
    kept.pending = null;
  } catch {
    // The owner is gone or serves another configuration: the next one asks again.
  }
}

function receive({ store, last }: Relayed, { from, number, changes, gauges }: Message): Data {
  if ((last.get(from) ?? 0) >= number) return null;
  last.delete(from);
  last.set(from, number);
  if (last.size > MAX_SENDERS) last.delete(last.keys().next().value!);
  store.merge(changes);
  store.mergeGauges(from, gauges);
  return null;
}
