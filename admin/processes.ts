import { type Gateway, memoryUse, type WorkerInfo } from '#kernel';
import type { Admin } from './admin.ts';

/** What holds the configurations that serve: this process, or its workers. */
export function processesOf({ crew, generations }: Gateway) {
  return crew ?? generations;
}

/** Why nothing should be sent here; empty when all is well. */
export function reasonsNotReady(gateway: Gateway): string[] {
  const { crew, generations } = gateway;
  const listens = crew ? crew.listens : generations.address !== null;
  return [
    processesOf(gateway).closing && 'draining',
    !listens && 'not listening',
    crew && !crew.serving && 'no worker serves',
  ].filter((reason) => typeof reason === 'string');
}

/** The fingerprint of a revision; null when it is not remembered. */
export function hashOfRevision({ generations, revisions }: Gateway, revision: number | null): string | null {
  const { id, hash } = generations.current.runtime;
  if (revision === id) return hash;
  return revisions.list().find(({ number }) => number === revision)?.hash ?? null;
}

/** The processes that serve; one without workers is its own. */
export function workersOf({ gateway, operating }: Pick<Admin, 'gateway' | 'operating'>): readonly WorkerInfo[] {
  const { crew, generations, registry, status, startedAt } = gateway;
  if (crew) return crew.workers;
  const own: WorkerInfo = {
    id: 1,
    pid: process.pid,
    state: 'up',
    revision: status.revision,
    uptimeMs: Date.now() - startedAt,
    requests: generations.requests,
    calls: generations.calls,
    streams: generations.streams,
    loopLagMs: operating.loopLag.ms,
    lostLines: registry.services.sinks.lost,
    ...memoryUse(),
  };
  return [own];
}
