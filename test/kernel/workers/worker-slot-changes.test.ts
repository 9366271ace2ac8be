import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { GatewayError } from '../../../kernel/contract/internal.ts';
import { arrival, turnsUntil } from './lines.ts';
import { order, SlotHarness } from './slots.ts';

describe('a worker slot (which holds one worker process) during a change', () => {
  let harness: SlotHarness;

  beforeEach(() => {
    harness = new SlotHarness();
  });
  afterEach(() => harness.close());

  describe('on prepare', () => {
    it('waits up to 30 seconds for its worker to start', async () => {
      harness.slot.start();
      const late = rejects(harness.slot.prepare(order(2)), {
        code: 'PREPARE_TIMEOUT',
        message: 'worker 7 is not ready: not started within 30000 ms',
      });
      mock.timers.tick(30_000);
      await late;
      const prepared = harness.slot.prepare(order(2));
      harness.last.channel.notify('ready');
      await prepared;
      deepEqual(harness.last.orders.at(-1), ['prepare', order(2)]);
    });

    it("rejects the configuration with the worker's errors", async () => {
      await harness.up();
      const refusal = new GatewayError('LISTENER_BIND', 'taken');
      harness.answer({ prepare: () => Promise.reject(refusal) });
      await rejects(harness.slot.prepare(order(2)), { code: 'LISTENER_BIND', message: 'taken' });
      harness.answer({ prepare: () => Promise.reject(new Error('a bug')) });
      await rejects(harness.slot.prepare(order(2)), /a bug/);
    });

    it('rejects the configuration if the worker dies or takes more than 30 seconds', async () => {
      await harness.up();
      harness.answer({ prepare: () => new Promise(() => {}) });
      const late = rejects(harness.slot.prepare(order(2)), {
        code: 'PREPARE_TIMEOUT',
        message: 'worker 7 is not ready: no response within 30000 ms',
      });
      await turnsUntil(() => harness.asked.includes('prepare'));
      mock.timers.tick(30_000);
      await late;
      const dead = rejects(harness.slot.prepare(order(2)), {
        code: 'PREPARE_TIMEOUT',
        message: 'worker 7 is not ready: the process has ended',
      });
      await arrival();
      harness.last.end(1, null);
      await dead;
    });

    it('aborts the configuration in the worker, unless that is still starting', async () => {
      await harness.up();
      await harness.slot.abort();
      deepEqual(harness.last.orders.at(-1), ['abort', null]);
      harness.answer({ abort: () => Promise.reject(new Error('a bug')) });
      await harness.slot.abort();
      harness.last.end(1, null);
      mock.timers.tick(100);
      await harness.slot.abort();
      await arrival();
      deepEqual(harness.last.orders, []);
    });
  });

  describe('on commit', () => {
    it('logs messages of the worker', async () => {
      await harness.up();
      harness.answer({ commit: () => ({ revision: 2, rebound: ['a'], port: 1 }) });
      deepEqual(await harness.slot.commit(2), { revision: 2, rebound: ['a'], port: 1 });
      deepEqual(harness.last.orders.at(-1), ['commit', 2]);
      deepEqual(harness.lines, []);
    });

    for (const [what, first, why] of [
      ['fails to commit', () => Promise.reject(new GatewayError('X', 'the swap failed')), 'the swap failed'],
      ['serves another revision', () => ({ revision: 1, rebound: [], port: null }), 'it uses revision 1'],
    ] as const) {
      it(`updates a worker that ${what}`, async () => {
        await harness.up();
        harness.owner.committed = order(2);
        const { commit } = harness.answers;
        harness.answer({
          commit: () => {
            harness.answer({ commit: commit! });
            return first();
          },
        });
        const committed = harness.slot.commit(2);
        await turnsUntil(() => harness.slot.state === 'starting');
        equal(await committed, null);
        equal(harness.slot.state, 'up');
        deepEqual(harness.asked, ['deny', 'commit', 'deny', 'prepare', 'commit']);
        deepEqual(harness.lines, [`worker 7 did not switch to the new revision (${why}); retrying`]);
        equal(harness.processes.length, 1);
      });
    }

    it('waits for the replacement of a worker that dies', async () => {
      await harness.up();
      harness.owner.committed = order(2);
      const { commit } = harness.answers;
      harness.answer({
        commit: () => {
          harness.answer({ commit: commit! });
          harness.last.end(null, 'SIGKILL');
        },
      });
      const committed = harness.slot.commit(2);
      await turnsUntil(() => harness.slot.state === 'down');
      mock.timers.tick(100);
      harness.last.channel.notify('ready');
      equal(await committed, null);
      deepEqual([harness.slot.state, harness.processes.length, harness.lines], ['up', 2, []]);
    });

    it('logs an error if no worker serves the configuration within 30 seconds', async () => {
      harness.slot.start();
      const committed = harness.slot.commit(2);
      await arrival();
      mock.timers.tick(30_000);
      equal(await committed, null);
      match(harness.lines[0]!, /^worker 7 has not switched to revision 2 yet: not started within 30000 ms$/);
      equal(harness.asked.length, 0);
    });
  });

  it('forwards notifications and requests to its worker', async () => {
    await harness.up();
    harness.answer({ listen: () => ({ host: '::', port: 9 }), inFlight: () => 4 });
    deepEqual(await harness.slot.listen({ known: null }), { host: '::', port: 9 });
    equal(await harness.slot.countInFlight(), 4);
    await harness.slot.deny([]);
    harness.slot.tell('closing', true);
    harness.slot.tell('level', 'DEBUG');
    harness.slot.mirror({ id: 'a', change: 1 });
    await arrival();
    deepEqual(harness.last.orders.slice(1), [
      ['listen', { known: null }],
      ['inFlight', null],
      ['deny', []],
      ['closing', true],
      ['level', 'DEBUG'],
      ['mirror', { id: 'a', change: 1 }],
    ]);
  });

  it('forwards nothing without a worker', async () => {
    harness.slot.tell('closing', true);
    harness.slot.tell('level', 'DEBUG');
    harness.slot.mirror({ id: 'a', change: 1 });
    await harness.slot.deny([]);
    equal(await harness.slot.countInFlight(), 0);
  });

  it("uses the worker's last report if it does not respond within half a second", async () => {
    await harness.up();
    harness.answer({ inFlight: () => new Promise(() => {}), deny: () => new Promise(() => {}) });
    const counted = async () => {
      const count = harness.slot.countInFlight();
      mock.timers.tick(500);
      return count;
    };
    equal(await counted(), 0);
    harness.last.channel.notify('heartbeat', { calls: 2, streams: 3 });
    await turnsUntil(() => harness.slot.heartbeat !== null);
    equal(await counted(), 5);
    const denied = harness.slot.deny([]);
    mock.timers.tick(500);
    await denied;
  });
});
