import { equal } from 'node:assert/strict';
import { Worker } from 'node:worker_threads';
import { enterDebugger, freeDebuggerOf, leaveDebugger } from '../../../kernel/containment/debugger-lock.ts';
import { DEBUGGER, marks } from '../../../kernel/containment/marks.ts';
import { endAtPlace } from '../../../kernel/registry/isolation/end-at-place.ts';

/** Acts like the thread with this number that watches the event loop. */
const pause = (threadId: number): void => {
  equal(Atomics.compareExchange(marks, DEBUGGER, 0, -threadId), 0);
};

describe('the lock on the debugger of the main thread', () => {
  afterEach(() => equal(marks[DEBUGGER], 0));

  it('is shared by several searches of one thread', async () => {
    equal(await enterDebugger(0), true);
    equal(await enterDebugger(0), true);
    equal(marks[DEBUGGER], 2);
    leaveDebugger();
    leaveDebugger();
  });

  it('is awaited for a limited time while another thread holds it', async () => {
    pause(7);
    equal(await enterDebugger(10), false);
    const entered = enterDebugger(60_000);
    freeDebuggerOf(7);
    equal(await entered, true);
    leaveDebugger();
  });

  it('is released when the thread that holds it has ended, but not when another thread has', () => {
    pause(7);
    freeDebuggerOf(8);
    equal(marks[DEBUGGER], -7);
    freeDebuggerOf(7);
    equal(marks[DEBUGGER], 0);
    freeDebuggerOf(7);
  });

  it('prevents inspecting a thread that might never release it', async () => {
    const thread = new Worker('for (;;);', { eval: true, name: 'endless' });
    pause(7);
    let isEnded = false;
    const ended = endAtPlace('endless', [], async () => {
      isEnded = true;
      await thread.terminate();
    });
    equal(await enterDebugger(50), false);
    equal(isEnded, false);
    freeDebuggerOf(7);
    await ended;
    equal(isEnded, true);
  });
});
