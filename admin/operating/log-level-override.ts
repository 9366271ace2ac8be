import type { LogLevel } from '#contract';
import type { Operations, Timers } from '#kernel';

/** Temporary log level that overrides the configured one. */
export interface LogLevelOverride {
  /** Current minimum level. */
  readonly level: LogLevel;
  /** Milliseconds left; null when the configured level is in force. */
  readonly leftMs: number | null;
  /** Replaces the override. @param ttlMs duration, in milliseconds; 0 restores the configured level at once. */
  set(level: LogLevel, ttlMs: number): void;
  /** Restores the configured level. */
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
  // The override is set again, because a configuration sets its own level when it starts to serve.
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
