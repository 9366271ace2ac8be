import { timerMs } from '#contract';

/** Time as a watcher sees it. */
export interface Timers {
  /** Milliseconds, never going back. */
  now(): number;
  /** Runs something once, later. @returns what calls it off. */
  after(ms: number, run: () => void): () => void;
}

/** The timers of the process; none of them keeps it alive. */
export const systemTimers: Timers = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, timerMs(ms)).unref();
    return () => clearTimeout(timer);
  },
};

/** Timers that end together. */
export interface Waits extends Timers {
  readonly ended: boolean;
  /** Resolves later, or at once when the waits end. */
  pause(ms: number): Promise<void>;
  /** Calls everything off; what is asked for later never runs. */
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
