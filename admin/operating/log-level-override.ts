import type { LogLevel } from '#contract';
import type { Operations, Timers } from '#kernel';

/** A level of the application log that stands above the configured one for a while. */
export interface LogLevelOverride {
  /** What is logged now, and above. */
  readonly level: LogLevel;
  /** Milliseconds left; null when the configured level is in force. */
  readonly leftMs: number | null;
  /** Replaces what is set. @param ttlMs how long; 0 to go back to the configured level at once. */
  set(level: LogLevel, ttlMs: number): void;
  /** Goes back to the configured level. */
  close(): void;
}

export function openLogLevelOverride(gateway: Operations, timers: Timers): LogLevelOverride {
  const { log, events } = gateway;
  let active: { readonly level: LogLevel; readonly endsAt: number; cancel(): void } | null = null;

  const end = (): void => {
    if (!active) return;
    active.cancel();
    active = null;
    gateway.setLogLevel(null);
  };
  // A configuration brings its own level wherever it begins to serve.
  const unsubscribe = events.subscribe({ types: ['reload.succeeded', 'worker.up'] }, () => {
    if (active) gateway.setLogLevel(active.level);
  });

  return {
    get level() {
      return log.level;
    },
    get leftMs() {
      return active && active.endsAt - timers.now();
    },
    set(level, ttlMs) {
      end();
      if (ttlMs === 0) return;
      active = { level, endsAt: timers.now() + ttlMs, cancel: timers.after(ttlMs, end) };
      gateway.setLogLevel(level);
    },
    close() {
      unsubscribe();
      end();
    },
  };
}
