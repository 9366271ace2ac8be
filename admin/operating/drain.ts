import type { Gateway, Timers } from '#kernel';
import { processesOf } from '../processes.ts';

/** Sends clients elsewhere while everything that comes is still answered. */
export interface Drain {
  start(): void;
  resume(): void;
  close(): void;
}

/** Pause between two looks at what is in flight: workers tell every second. */
const LOOK_MS = 1_500;

export function createDrain(gateway: Gateway, timers: Timers): Drain {
  const { events } = gateway;
  /** Calls off the next look; null when nothing is waited for. */
  let cancel: (() => void) | null = null;
  const inFlight = () => processesOf(gateway).held.reduce((sum, { requests }) => sum + requests, 0);

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
      if (processesOf(gateway).closing) return;
      processesOf(gateway).setClosing(true);
      events.emit('drain.started', { requests: inFlight() });
      wait();
    },
    resume() {
      if (!processesOf(gateway).closing) return;
      processesOf(gateway).setClosing(false);
      if (cancel) finish('resumed');
    },
    close: () => cancel?.(),
  };
}
