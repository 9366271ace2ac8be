import { setTimeout as delay } from 'node:timers/promises';
import { DEBUGGER, marks } from './marks.ts';

/**
 * The main thread is either paused by the watchdog thread or inspects a thread itself. If it were paused while handling
 * a message of its own inspection, it would hang forever, because Node.js may lose the message that resumes it.
 */

/** Time between two attempts, in milliseconds. */
const RETRY_MS = 5;

/**
 * Lets the main thread inspect another thread, until `leaveDebugger`. @returns false when the debugger does not become
 * available within the time, in milliseconds.
 */
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

/** Releases the debugger of a thread that has ended. @param threadId the thread's id, as of `Worker` while it was running. */
export function freeDebuggerOf(threadId: number): void {
  Atomics.compareExchange(marks, DEBUGGER, -threadId, 0);
}
