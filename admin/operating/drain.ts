import type { Operations, Timers } from '#kernel';

/** Directs clients to other instances while requests are still served. */
export interface Drain {
  start(): void;
  resume(): void;
  close(): void;
}

/** Interval between checks of requests in flight, in milliseconds; workers report every second. */
const LOOK_MS = 1_500;

export function createDrain(gateway: Operations, timers: Timers): Drain {
  const { events, processes } = gateway;
  /** Cancels the next check; null when no drain is waiting. */
  let cancel: (() => void) | null = null;
  const inFlight = () => processes.held.reduce((sum, { requests }) => sum + requests, 0);

  const finish = (result: 'idle' | 'resumed'): void => {
    cancel?.();
    cancel = null;
    events.emit('drain.finished', { result });
  };
  const wait = (): void => {
    cancel = timers.after(LOOK_MS, () => {
      if (inFlight() === 0) finish('idle');
      else wait();
    });
  };

  return {
    start() {
      if (processes.closing) return;
      processes.setClosing(true);
      events.emit('drain.started', { requests: inFlight() });
      wait();
    },
    resume() {
      if (!processes.closing) return;
      processes.setClosing(false);
      if (cancel) finish('resumed');
    },
    close: () => cancel?.(),
  };
}
