import type { Operations, WorkerInfo } from '#kernel';
import type { Admin } from './operation.ts';

/** Why nothing should be sent here; empty when all is well. */
export function reasonsNotReady({ processes: { closing, port, serving } }: Operations): string[] {
  return [closing && 'draining', port === null && 'not listening', !serving && 'no worker serves'].filter(
    (reason) => typeof reason === 'string',
  );
}

/** The fingerprint of a revision; null when it is not remembered. */
export function hashOfRevision({ status, revisions }: Operations, revision: number | null): string | null {
  if (revision === status.revision) return status.hash;
  return revisions.list().find(({ number }) => number === revision)?.hash ?? null;
}

/** The processes that serve; how late this one's event loop is, is watched here. */
export function workersOf({ gateway, operating }: Pick<Admin, 'gateway' | 'operating'>): readonly WorkerInfo[] {
  return gateway.processes.workers.map((worker) =>
    worker.pid === process.pid ? { ...worker, loopLagMs: operating.loopLag.ms } : worker,
  );
}
