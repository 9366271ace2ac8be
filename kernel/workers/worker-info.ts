import type { GenerationInfo } from '../control/generations.ts';
import type { Compiled } from '../pipeline/compile/compile.ts';
import { endpointId } from '../runtime/prints/endpoint-prints.ts';
import type { Heartbeat, ResourceUse } from './messages.ts';
import type { WorkerSlot, WorkerState } from './worker-slot.ts';

/** A worker as shown by the admin API. */
export interface WorkerInfo extends ResourceUse {
  readonly id: number;
  readonly pid: number | null;
  readonly state: WorkerState;
  readonly revision: number | null;
  readonly uptimeMs: number;
  readonly requests: number;
  readonly calls: number;
  readonly streams: number;
  readonly connections: number;
  readonly loopLagMs: number;
  /** Number of log lines lost. */
  readonly lostLines: number;
}

export function describeWorker({ id, pid, state, uptimeMs, heartbeat }: WorkerSlot): WorkerInfo {
  return {
    id,
    pid,
    state,
    uptimeMs,
    revision: heartbeat?.revision ?? null,
    requests: heartbeat?.requests ?? 0,
    calls: heartbeat?.calls ?? 0,
    streams: heartbeat?.streams ?? 0,
    connections: heartbeat?.connections ?? 0,
    loopLagMs: heartbeat?.loopLagMs ?? 0,
    lostLines: heartbeat?.lostLines ?? 0,
    rssBytes: heartbeat?.rssBytes ?? 0,
    heapUsedBytes: heartbeat?.heapUsedBytes ?? 0,
    cpuMs: heartbeat?.cpuMs ?? 0,
  };
}

/** Configurations held by all workers, newest first. */
export function heldBy(slots: readonly WorkerSlot[]): readonly GenerationInfo[] {
  const all = slots.flatMap(({ heartbeat }) => heartbeat?.held ?? []);
  const revisions = [...Map.groupBy(all, ({ revision }) => revision)].sort(([a], [b]) => b - a);
  return revisions.map(([revision, held]) => ({
    revision,
    state: held.some(({ state }) => state === 'current') ? 'current' : 'draining',
    requests: sum(held.map(({ requests }) => requests)),
    streams: sum(held.map(({ streams }) => streams)),
    ageMs: held.reduce((most, { ageMs }) => Math.max(most, ageMs), 0),
  }));
}

/** Streams of all workers, by endpoint. */
export function streamsBy(slots: readonly WorkerSlot[]): ReadonlyMap<string, number> {
  const all = slots.flatMap(({ heartbeat }) => [...(heartbeat?.streamsByEndpoint ?? [])]);
  const endpoints = Map.groupBy(all, ([endpoint]) => endpoint);
  return new Map([...endpoints].map(([endpoint, results]) => [endpoint, sum(results.map(([, streams]) => streams))]));
}

/** Adds the traffic of a worker, by endpoint, to that of all. */
export function mergeTraffic(published: Compiled['published'], traffic: Heartbeat['traffic']): void {
  const deltas = new Map(traffic);
  for (const { endpoint, traffic: served } of published) {
    const delta = deltas.get(endpointId(endpoint));
    if (delta) served.merge(delta);
  }
}

/** Log line for a worker that has ended, or could not be started. @param pauseMs delay before the next start. */
export function exitLine({ id, pid }: WorkerSlot, reason: string, pauseMs: number): string {
  return pid === null
    ? `worker ${id} ${reason}; retrying in ${pauseMs} ms`
    : `worker ${id} (pid ${pid}) exited: ${reason}; restarting in ${pauseMs} ms`;
}

/** Total of a count in the last heartbeats. */
export function totalOf(slots: readonly WorkerSlot[], count: 'aborted' | 'headerFaults' | 'leaked'): number {
  return sum(slots.map(({ heartbeat }) => heartbeat?.[count] ?? 0));
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
