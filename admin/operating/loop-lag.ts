import type { Timers } from '#kernel';

/** Delay of the event loop. */
export interface LoopLag {
  /** Milliseconds by which the last timer was late, or by which the next one is already late. */
  readonly ms: number;
  close(): void;
}

const BEAT_MS = 500;

export function watchLoopLag(timers: Timers): LoopLag {
  let lastMs = 0;
  let due = 0;
  let cancel = () => {};
  const overdueMs = (): number => Math.max(0, timers.now() - due);
  const beat = (): void => {
    due = timers.now() + BEAT_MS;
    cancel = timers.after(BEAT_MS, () => {
      lastMs = overdueMs();
      beat();
    });
  };
  beat();
  return {
    get ms() {
      return Math.round(Math.max(lastMs, overdueMs()));
    },
    close: () => cancel(),
  };
}
