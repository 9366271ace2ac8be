import type { Timers } from '../../kernel/runtime/watch/index.ts';

/** Timers that a test fires explicitly. */
export function handTimers(): Timers & { advance(ms: number): void } {
  let now = 0;
  const due = new Set<{ readonly at: number; readonly run: () => void }>();
  return {
    now: () => now,
    after(ms, run) {
      const entry = { at: now + ms, run };
      due.add(entry);
      return () => due.delete(entry);
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const [first] = [...due].filter((entry) => entry.at <= end).sort((a, b) => a.at - b.at);
        if (!first) break;
        due.delete(first);
        now = first.at;
        first.run();
      }
      now = end;
    },
  };
}
