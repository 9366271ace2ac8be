import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { GatewayError } from '../../../kernel/contract/internal.ts';
import { arrival, turnsUntil } from './lines.ts';
import { order, SeatStand } from './seats.ts';

describe('the place of a worker, over changes', () => {
  let stand: SeatStand;

  beforeEach(() => {
    stand = new SeatStand();
  });
  afterEach(() => stand.close());

  describe('when a configuration is prepared', () => {
    it('waits for its worker to be up, and for no longer than 30 seconds', async () => {
      stand.seat.start();
      const late = rejects(stand.seat.prepare(order(2)), {
        code: 'PREPARE_TIMEOUT',
        message: 'worker 7 is not ready: not started within 30000 ms',
      });
      mock.timers.tick(30_000);
      await late;
      const prepared = stand.seat.prepare(order(2));
      stand.last.channel.tell('ready');
      await prepared;
      deepEqual(stand.last.orders.at(-1), ['prepare', order(2)]);
    });

    it('refuses it with what the worker finds wrong', async () => {
      await stand.up();
      const refusal = new GatewayError('LISTENER_BIND', 'taken');
      stand.answer({ prepare: () => Promise.reject(refusal) });
      await rejects(stand.seat.prepare(order(2)), { code: 'LISTENER_BIND', message: 'taken' });
      stand.answer({ prepare: () => Promise.reject(new Error('a bug')) });
      await rejects(stand.seat.prepare(order(2)), /a bug/);
    });

    it('refuses it when the worker dies over it, or takes longer than 30 seconds', async () => {
      await stand.up();
      stand.answer({ prepare: () => new Promise(() => {}) });
      const late = rejects(stand.seat.prepare(order(2)), {
        code: 'PREPARE_TIMEOUT',
        message: 'worker 7 is not ready: no answer in 30000 ms',
      });
      await turnsUntil(() => stand.asked.includes('prepare'));
      mock.timers.tick(30_000);
      await late;
      const dead = rejects(stand.seat.prepare(order(2)), {
        code: 'PREPARE_TIMEOUT',
        message: 'worker 7 is not ready: the process has ended',
      });
      await arrival();
      stand.last.end(1, null);
      await dead;
    });

    it('gives it up in the worker, and in none that is just being started', async () => {
      await stand.up();
      await stand.seat.abort();
      deepEqual(stand.last.orders.at(-1), ['abort', null]);
      stand.answer({ abort: () => Promise.reject(new Error('a bug')) });
      await stand.seat.abort();
      stand.last.end(1, null);
      mock.timers.tick(100);
      await stand.seat.abort();
      await arrival();
      deepEqual(stand.last.orders, []);
    });
  });

  describe('when a configuration is committed', () => {
    it('tells what the worker says', async () => {
      await stand.up();
      stand.answer({ commit: () => ({ revision: 2, rebound: ['a'], port: 1 }) });
      deepEqual(await stand.seat.commit(2), { revision: 2, rebound: ['a'], port: 1 });
      deepEqual(stand.last.orders.at(-1), ['commit', 2]);
      deepEqual(stand.lines, []);
    });

    for (const [what, first, why] of [
      ['fails at it', () => Promise.reject(new GatewayError('X', 'the swap failed')), 'the swap failed'],
      ['serves another one', () => ({ revision: 1, rebound: [], port: null }), 'it serves revision 1'],
    ] as const) {
      it(`brings a worker up again that ${what}`, async () => {
        await stand.up();
        stand.owner.committed = order(2);
        const { commit } = stand.answers;
        stand.answer({
          commit: () => {
            stand.answer({ commit: commit! });
            return first();
          },
        });
        const committed = stand.seat.commit(2);
        await turnsUntil(() => stand.seat.state === 'starting');
        equal(await committed, null);
        equal(stand.seat.state, 'up');
        deepEqual(stand.asked, ['deny', 'commit', 'deny', 'prepare', 'commit']);
        deepEqual(stand.lines, [`worker 7 did not switch to the new revision (${why}); trying again`]);
        equal(stand.processes.length, 1);
      });
    }

    it('waits for the worker that comes in the place of one that dies over it', async () => {
      await stand.up();
      stand.owner.committed = order(2);
      const { commit } = stand.answers;
      stand.answer({
        commit: () => {
          stand.answer({ commit: commit! });
          stand.last.end(null, 'SIGKILL');
        },
      });
      const committed = stand.seat.commit(2);
      await turnsUntil(() => stand.seat.state === 'down');
      mock.timers.tick(100);
      stand.last.channel.tell('ready');
      equal(await committed, null);
      deepEqual([stand.seat.state, stand.processes.length, stand.lines], ['up', 2, []]);
    });

    it('says in the log that nobody serves it within 30 seconds', async () => {
      stand.seat.start();
      const committed = stand.seat.commit(2);
      await arrival();
      mock.timers.tick(30_000);
      equal(await committed, null);
      match(stand.lines[0]!, /^worker 7 does not serve revision 2 yet: not started within 30000 ms$/);
      equal(stand.asked.length, 0);
    });
  });

  it('passes on what its worker is to know, and what it is asked', async () => {
    await stand.up();
    stand.answer({ listen: () => ({ host: '::', port: 9 }), inFlight: () => 4 });
    deepEqual(await stand.seat.listen(), { host: '::', port: 9 });
    equal(await stand.seat.countInFlight(), 4);
    await stand.seat.deny([]);
    stand.seat.setClosing(true);
    stand.seat.setLogLevel('DEBUG');
    stand.seat.mirror({ id: 'a', change: 1 });
    await arrival();
    deepEqual(stand.last.orders.slice(1), [
      ['listen', null],
      ['inFlight', null],
      ['deny', []],
      ['closing', true],
      ['level', 'DEBUG'],
      ['mirror', { id: 'a', change: 1 }],
    ]);
  });

  it('passes nothing on before it has a worker', async () => {
    stand.seat.setClosing(true);
    stand.seat.setLogLevel('DEBUG');
    stand.seat.mirror({ id: 'a', change: 1 });
    await stand.seat.deny([]);
    equal(await stand.seat.countInFlight(), 0);
  });

  it('counts what its worker told last when it does not answer within half a second', async () => {
    await stand.up();
    stand.answer({ inFlight: () => new Promise(() => {}), deny: () => new Promise(() => {}) });
    const counted = async () => {
      const count = stand.seat.countInFlight();
      mock.timers.tick(500);
      return count;
    };
    equal(await counted(), 0);
    stand.last.channel.tell('pulse', { calls: 2, streams: 3 });
    await turnsUntil(() => stand.seat.heartbeat !== null);
    equal(await counted(), 5);
    const denied = stand.seat.deny([]);
    mock.timers.tick(500);
    await denied;
  });
});
