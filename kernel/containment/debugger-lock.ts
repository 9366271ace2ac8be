import { setTimeout as delay } from 'node:timers/promises';
import { DEBUGGER, marks } from './marks.ts';

/**
 * The main thread either is paused by the thread that watches it, or searches a thread itself: paused in a message of its own
 * search it would stand still for ever, since Node.js may lose what would let it go on.
 */

/** Time between two attempts, in milliseconds. */
const RETRY_MS = 5;

/** The main thread searches from now on, until `leaveDebugger`. @returns false where it may not within a time in milliseconds. */
export async function enterDebugger(withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (;;) {
    const users = Atomics.load(marks, DEBUGGER);
    if (users >= 0 && Atomics.compareExchange(marks, DEBUGGER, users, users + 1) === users) return true;
    if (performance.now() >= end) return false;
    await delay(RETRY_MS);
  }
}

export function leaveDebugger(): void {
  Atomics.sub(marks, DEBUGGER, 1);
}

/** A thread is gone, and what it had with it. @param threadId as of `Worker`, when it still ran. */
export function freeDebuggerOf(threadId: number): void {
  Atomics.compareExchange(marks, DEBUGGER, -threadId, 0);
}
