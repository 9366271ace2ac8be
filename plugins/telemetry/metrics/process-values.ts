import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import type { Stats } from './stats.ts';

/** Observes the process under the metric names of KrakenD, where they apply to Node.js. */
export interface ProcessValues {
  /** Returns the current values; those of the event loop cover the time since the previous call. */
  read(): Readonly<Record<string, number>>;
  close(): void;
}

export function observeProcess(stats: Stats): ProcessValues {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const pauses = ['service.debug.GCStats.Pause', 'service.runtime.MemStats.PauseNs'];
  let collections = 0;
  let paused = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      collections += 1;
      paused += duration * 1e6;
      for (const name of pauses) stats.sample(name).add(duration * 1e6);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  const whole = (nanoseconds: number) => (Number.isFinite(nanoseconds) ? nanoseconds : 0);
  return {
    read() {
      const { rss, heapTotal, heapUsed } = process.memoryUsage();
      const lag = 'service.runtime.EventLoopLag';
      const values = {
        'service.debug.GCStats.NumGC': collections,
        'service.debug.GCStats.PauseTotal': paused,
        'service.runtime.MemStats.HeapAlloc': heapUsed,
        'service.runtime.MemStats.HeapSys': heapTotal,
        'service.runtime.MemStats.Sys': rss,
        'service.runtime.MemStats.NumGC': collections,
        'service.runtime.NumGoroutine': process.getActiveResourcesInfo().length,
        [`${lag}.mean`]: whole(delay.mean),
        [`${lag}.max`]: whole(delay.max),
        [`${lag}.99-percentile`]: whole(delay.percentile(99)),
      };
      delay.reset();
      return values;
    },
    close() {
      observer.disconnect();
      delay.disable();
    },
  };
}
