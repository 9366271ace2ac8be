import type { Timers } from '#kernel';
import { type Observed, TrafficRecorder } from './traffic-recorder.ts';

/** Time series of the traffic, by the duration of their samples. At most 2 MiB together. */
export interface TrafficRecorders {
  /** The last minute; only recorded while it is read. */
  readonly '1s': TrafficRecorder;
  /** The last hour. */
  readonly '10s': TrafficRecorder;
  close(): void;
}

export const trafficIntervals = ['10s', '1s'] as const;

/** Starts recording the last hour. */
export function openTrafficRecorders(observed: Observed, timers: Timers): TrafficRecorders {
  const lastMinute = { intervalMs: 1000, maxSamples: 60, maxEndpoints: 200, idleMs: 15_000 };
  const lastHour = { intervalMs: 10_000, maxSamples: 360, maxEndpoints: 20, idleMs: Number.POSITIVE_INFINITY };
  const recorders = {
    '1s': new TrafficRecorder(observed, lastMinute, timers),
    '10s': new TrafficRecorder(observed, lastHour, timers),
  };
  return {
    ...recorders,
    close() {
      for (const recorder of Object.values(recorders)) recorder.close();
    },
  };
}
