import { type Operations, ShadowRuns, systemTimers, type Timers } from '#kernel';
import { workersOf } from '../processes.ts';
import { createDrain, type Drain } from './drain.ts';
import { type EventStreams, openEventStreams } from './event-streams.ts';
import { type LogLevelOverride, openLogLevelOverride } from './log-level-override.ts';
import { type LoopLag, watchLoopLag } from './loop-lag.ts';
import { type Observations, openObservations } from './observations.ts';
import { countReloads, type ReloadCounters } from './reload-counters.ts';
import { openTrafficRecorders, type TrafficRecorders } from './traffic-recorders.ts';

/** Runtime state of the admin API in addition to the gateway's own, from opening to closing its port. */
export interface Operating {
  readonly reloads: ReloadCounters;
  readonly loopLag: LoopLag;
  readonly logLevel: LogLevelOverride;
  readonly drain: Drain;
  readonly eventStreams: EventStreams;
  readonly traffic: TrafficRecorders;
  readonly shadow: ShadowRuns;
  readonly observations: Observations;
  /** Stops everything; event streams end gracefully. */
  close(): void;
}

/** Starts watching a gateway. */
export function openOperating(gateway: Operations, timers: Timers = systemTimers): Operating {
  const loopLag = watchLoopLag(timers);
  const watchers = {
    reloads: countReloads(gateway),
    loopLag,
    logLevel: openLogLevelOverride(gateway, timers),
    drain: createDrain(gateway, timers),
    eventStreams: openEventStreams(gateway, timers),
    shadow: new ShadowRuns(gateway, timers),
    observations: openObservations(gateway, timers),
    traffic: openTrafficRecorders({ gateway, workers: () => workersOf({ gateway, operating: { loopLag } }) }, timers),
  };
  return {
    ...watchers,
    close() {
      for (const watcher of Object.values(watchers)) watcher.close();
    },
  };
}
