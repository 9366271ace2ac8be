import { timerMs } from '#contract';

/** Clock and timers of a watcher. */
export interface Timers {
  /** Monotonic clock, in milliseconds. */
  now(): number;
  /** Runs a function once, later. @returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** The timers of the process; they do not keep it alive. */
export const systemTimers: Timers = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, timerMs(ms)).unref();
    return () => clearTimeout(timer);
  },
};

/** The clock of the process, with timers that never run. */
export const stoppedTimers: Timers = { now: systemTimers.now, after: () => () => {} };

/** Timers that are canceled together. */
export interface Waits extends Timers {
  readonly ended: boolean;
  /** Resolves after a delay, or at once when the timers end. */
  pause(ms: number): Promise<void>;
  /** Cancels all timers; later ones never run. */
  end(): void;
}

export function createWaits(timers: Timers): Waits {
  const open = new Set<() => void>();
  let ended = false;
  const start = (ms: number, run: () => void, calledOff?: () => void): (() => void) => {
    if (ended) {
      calledOff?.();
      return () => {};
    }
    const cancelTimer = timers.after(ms, () => {
      open.delete(cancel);
      run();
    });
    const cancel = () => {
      if (!open.delete(cancel)) return;
      cancelTimer();
      calledOff?.();
    };
    open.add(cancel);
    return cancel;
  };
  return {
    get ended() {
      return ended;
    },
    now: () => timers.now(),
    after: (ms, run) => start(ms, run),
    pause: (ms) =>
      new Promise((resolve) => {
        start(ms, resolve, resolve);
      }),
    end() {
      ended = true;
      for (const cancel of [...open]) cancel();
    },
  };
}
