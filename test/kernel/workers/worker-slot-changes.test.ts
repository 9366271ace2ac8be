import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { GatewayError } from '../../../kernel/contract/internal.ts';
import { arrival, turnsUntil } from './lines.ts';
import { order, SeatStand } from './slots.ts';

describe('a worker slot during a change', () => {
  let stand: SeatStand;

  beforeEach(() => {
    stand = new SeatStand();
  });
  afterEach(() => stand.close());

  describe('on prepare', () => {
    it('waits up to 30 seconds for its worker to start', async () => {
      stand.slot.start();
      const late = rejects(stand.slot.prepare(order(2)), {
        code: 'PREPARE_TIMEOUT',
        message: 'worker 7 is not ready: not started within 30000 ms',
      });
      mock.timers.tick(30_000);
      await late;
      const prepared = stand.slot.prepare(order(2));
      stand.last.channel.notify('ready');
      await prepared;
      deepEqual(stand.last.orders.at(-1), ['prepare', order(2)]);
    });

    it("rejects the configuration with the worker's errors", async () => {
      await stand.up();
      const refusal = new GatewayError('LISTENER_BIND', 'taken');
      stand.answer({ prepare: () => Promise.reject(refusal) });
      await rejects(stand.slot.prepare(order(2)), { code: 'LISTENER_BIND', message: 'taken' });
      stand.answer({ prepare: () => Promise.reject(new Error('a bug')) });
      await rejects(stand.slot.prepare(order(2)), /a bug/);
    });

    it('rejects the configuration if the worker dies or takes more than 30 seconds', async () => {
      await stand.up();
      stand.answer({ prepare: () => new Promise(() => {}) });
      const late = rejects(stand.slot.prepare(order(2)), {
        code: 'PREPARE_TIMEOUT',
        message: 'worker 7 is not ready: no response within 30000 ms',
      });
      await turnsUntil(() => stand.asked.includes('prepare'));
      mock.timers.tick(30_000);
      await late;
      const dead = rejects(stand.slot.prepare(order(2)), {
        code: 'PREPARE_TIMEOUT',
        message: 'worker 7 is not ready: the process has ended',
      });
      await arrival();
      stand.last.end(1, null);
      await dead;
    });

    it('aborts the configuration in the worker, unless that is still starting', async () => {
      await stand.up();
      await stand.slot.abort();
      deepEqual(stand.last.orders.at(-1), ['abort', null]);
      stand.answer({ abort: () => Promise.reject(new Error('a bug')) });
      await stand.slot.abort();
      stand.last.end(1, null);
      mock.timers.tick(100);
      await stand.slot.abort();
      await arrival();
      deepEqual(stand.last.orders, []);
    });
  });

  describe('on commit', () => {
    it('logs messages of the worker', async () => {
      await stand.up();
      stand.answer({ commit: () => ({ revision: 2, rebound: ['a'], port: 1 }) });
      deepEqual(await stand.slot.commit(2), { revision: 2, rebound: ['a'], port: 1 });
      deepEqual(stand.last.orders.at(-1), ['commit', 2]);
      deepEqual(stand.lines, []);
    });

    for (const [what, first, why] of [
      ['fails to commit', () => Promise.reject(new GatewayError('X', 'the swap failed')), 'the swap failed'],
      ['serves another revision', () => ({ revision: 1, rebound: [], port: null }), 'it serves revision 1'],
    ] as const) {
      it(`updates a worker that ${what}`, async () => {
        await stand.up();
        stand.owner.committed = order(2);
        const { commit } = stand.answers;
        stand.answer({
          commit: () => {
            stand.answer({ commit: commit! });
            return first();
          },
        });
        const committed = stand.slot.commit(2);
        await turnsUntil(() => stand.slot.state === 'starting');
        equal(await committed, null);
        equal(stand.slot.state, 'up');
        deepEqual(stand.asked, ['deny', 'commit', 'deny', 'prepare', 'commit']);
        deepEqual(stand.lines, [`worker 7 did not switch to the new revision (${why}); retrying`]);
        equal(stand.processes.length, 1);
      });
    }

    it('waits for the replacement of a worker that dies', async () => {
      await stand.up();
      stand.owner.committed = order(2);
      const { commit } = stand.answers;
      stand.answer({
        commit: () => {
          stand.answer({ commit: commit! });
          stand.last.end(null, 'SIGKILL');
        },
      });
      const committed = stand.slot.commit(2);
      await turnsUntil(() => stand.slot.state === 'down');
      mock.timers.tick(100);
      stand.last.channel.notify('ready');
      equal(await committed, null);
      deepEqual([stand.slot.state, stand.processes.length, stand.lines], ['up', 2, []]);
    });

    it('logs an error if no worker serves the configuration within 30 seconds', async () => {
      stand.slot.start();
      const committed = stand.slot.commit(2);
      await arrival();
      mock.timers.tick(30_000);
      equal(await committed, null);
      match(stand.lines[0]!, /^worker 7 does not serve revision 2 yet: not started within 30000 ms$/);
      equal(stand.asked.length, 0);
    });
  });

  it('forwards notifications and requests to its worker', async () => {
    await stand.up();
    stand.answer({ listen: () => ({ host: '::', port: 9 }), inFlight: () => 4 });
    deepEqual(await stand.slot.listen({ known: null }), { host: '::', port: 9 });
    equal(await stand.slot.countInFlight(), 4);
    await stand.slot.deny([]);
    stand.slot.setClosing(true);
    stand.slot.setLogLevel('DEBUG');
    stand.slot.mirror({ id: 'a', change: 1 });
    await arrival();
    deepEqual(stand.last.orders.slice(1), [
      ['listen', { known: null }],
      ['inFlight', null],
      ['deny', []],
      ['closing', true],
      ['level', 'DEBUG'],
      ['mirror', { id: 'a', change: 1 }],
    ]);
  });

  it('forwards nothing without a worker', async () => {
    stand.slot.setClosing(true);
    stand.slot.setLogLevel('DEBUG');
    stand.slot.mirror({ id: 'a', change: 1 });
    await stand.slot.deny([]);
    equal(await stand.slot.countInFlight(), 0);
  });

  it("uses the worker's last report if it does not respond within half a second", async () => {
    await stand.up();
    stand.answer({ inFlight: () => new Promise(() => {}), deny: () => new Promise(() => {}) });
    const counted = async () => {
      const count = stand.slot.countInFlight();
      mock.timers.tick(500);
      return count;
    };
    equal(await counted(), 0);
    stand.last.channel.notify('heartbeat', { calls: 2, streams: 3 });
    await turnsUntil(() => stand.slot.heartbeat !== null);
    equal(await counted(), 5);
    const denied = stand.slot.deny([]);
    mock.timers.tick(500);
    await denied;
  });
});
