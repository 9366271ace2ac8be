import type { Operations, WorkerInfo } from '#kernel';
import type { LoopLag } from './operating/loop-lag.ts';

/** Reasons why this instance should not receive traffic; empty when it is ready. */
export function reasonsNotReady({ processes: { closing, port, serving } }: Operations): string[] {
  return [closing && 'draining', port === null && 'not listening', !serving && 'no worker is running'].filter(
    (reason) => typeof reason === 'string',
  );
}

/** Fingerprint of a revision; null when it is no longer remembered. */
export function hashOfRevision({ status, revisions }: Operations, revision: number | null): string | null {
  if (revision === status.revision) return status.hash;
  return revisions.list().find(({ number }) => number === revision)?.hash ?? null;
}

/** The processes that serve; the event loop lag of this one is measured here. */
export function workersOf({
  gateway,
  operating,
}: {
  readonly gateway: Operations;
  readonly operating: { readonly loopLag: LoopLag };
}): readonly WorkerInfo[] {
  return gateway.processes.workers.map((worker) =>
    worker.pid === process.pid ? { ...worker, loopLagMs: operating.loopLag.ms } : worker,
  );
}
