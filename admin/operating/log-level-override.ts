import type { LogLevel } from '#contract';
import type { Gateway, Timers } from '#kernel';

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

export function openLogLevelOverride(gateway: Gateway, timers: Timers): LogLevelOverride {
  const { log, generations, events } = gateway;
  let active: { readonly level: LogLevel; readonly endsAt: number; cancel(): void } | null = null;

  const apply = (level: LogLevel): void => {
    log.level = level;
    gateway.crew?.setLogLevel(level);
  };
  const end = (): void => {
    if (!active) return;
    active.cancel();
    active = null;
    apply(generations.current.logging.application.level);
  };
  // A configuration brings its own level wherever it begins to serve.
  const unsubscribe = events.subscribe({ types: ['reload.succeeded', 'worker.up'] }, () => {
    if (active) apply(active.level);
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
      apply(level);
    },
    close() {
      unsubscribe();
      end();
    },
  };
}
