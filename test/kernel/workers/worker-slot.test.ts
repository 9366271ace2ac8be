import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { GatewayError } from '../../../kernel/contract/internal.ts';
import { arrival, turnsUntil } from './lines.ts';
import { order, SeatStand } from './slots.ts';

describe('a worker slot', () => {
  let stand: SeatStand;

  beforeEach(() => {
    stand = new SeatStand();
  });
  afterEach(() => stand.close());

  it('is empty before its first worker', () => {
    deepEqual([stand.slot.state, stand.slot.pid, stand.slot.uptimeMs, stand.slot.heartbeat], ['down', null, 0, null]);
  });

  it('has a worker that waits for the first configuration, and knows the denied addresses', async () => {
    stand.slot.start();
    mock.timers.tick(400);
    deepEqual([stand.slot.state, stand.slot.pid, stand.slot.uptimeMs], ['starting', 100, 0]);
    stand.last.channel.notify('ready');
    await stand.slot.ready;
    deepEqual(stand.last.orders, [['deny', stand.owner.denied]]);
    deepEqual([stand.slot.state, stand.slot.uptimeMs, stand.told], ['up', 400, [['up', 7]]]);
  });

  it('updates its worker to the committed configuration, and lets it listen at the port of the others', async () => {
    Object.assign(stand.owner, { committed: order(3), listens: true, target: { known: 8080 } });
    await stand.up();
    deepEqual(stand.last.orders, [
      ['deny', stand.owner.denied],
      ['prepare', order(3)],
      ['commit', 3],
      ['listen', { known: 8080 }],
    ]);
  });

  const long = (revision: number, changed = '') => ({
    ...order(revision),
    text: `${'a'.repeat(70_000)}${changed}${'b'.repeat(70_000)}`,
  });

  it('sends only the changed part of a long text, or all of it if the worker serves another one', async () => {
    stand.owner.committed = long(3);
    await stand.up();
    const { text: _text, ...next } = long(4);
    await stand.slot.prepare(long(4, 'xyz'));
    const change = { of: 3, start: 70_000, end: 70_000, text: 'xyz' };
    deepEqual(stand.last.orders.at(-1), ['prepare', { ...next, change }]);
    stand.answer({
      prepare(asked: object) {
        if ('change' in asked) throw new GatewayError('TEXT_UNKNOWN', 'it has another one');
      },
    });
    await stand.slot.prepare(long(5, 'z'));
    deepEqual(stand.last.orders.at(-1), ['prepare', long(5, 'z')]);
  });

  it('lets a worker listen only once the others do', async () => {
    stand.owner.committed = order(3);
    await stand.up();
    deepEqual(stand.asked, ['deny', 'prepare', 'commit']);
  });

  it('continues with the configuration that was committed while the worker was starting', async () => {
    stand.owner.committed = order(3);
    const { commit } = stand.answers;
    stand.answer({
      commit: (revision: number) => {
        stand.owner.committed = order(4);
        stand.answer({ commit: commit! });
        return { revision, rebound: [], port: null };
      },
    });
    await stand.up();
    deepEqual(
      stand.last.orders.filter(([name]) => name === 'prepare'),
      [
        ['prepare', order(3)],
        ['prepare', order(4)],
      ],
    );
    equal(stand.told.length, 1);
  });

  it('replaces a worker that cannot serve the committed configuration', async () => {
    stand.owner.committed = order(3);
    const { commit } = stand.answers;
    stand.answer({ commit: () => ({ revision: 0, rebound: [], port: null }) });
    stand.slot.start();
    stand.last.channel.notify('ready');
    await turnsUntil(() => stand.slot.state === 'down');
    deepEqual(stand.lines, ['worker 7 failed to start: it serves revision 0']);
    deepEqual(stand.told, [['down', [7, 'SIGKILL']]]);
    stand.answer({ commit: commit! });
    mock.timers.tick(100);
    stand.last.channel.notify('ready');
    await stand.slot.ready;
    equal(stand.processes.length, 2);
  });

  for (const late of ['deny', 'prepare', 'commit', 'listen']) {
    it(`replaces a worker that does not answer "${late}" within 30 seconds`, async () => {
      Object.assign(stand.owner, { committed: order(3), listens: true });
      stand.answer({ [late]: () => new Promise(() => {}) });
      stand.slot.start();
      stand.last.channel.notify('ready');
      await turnsUntil(() => stand.asked.includes(late));
      mock.timers.tick(29_999);
      await arrival();
      equal(stand.slot.state, 'starting');
      mock.timers.tick(1);
      await turnsUntil(() => stand.slot.state === 'down');
      deepEqual(stand.lines, ['worker 7 failed to start: no response within 30000 ms']);
    });
  }

  it('delays the restart of failing workers even if the system clock is set forward', async () => {
    await stand.up();
    for (const pauseMs of [100, 500, 2_000]) {
      stand.setClock(3_600_000);
      stand.last.end(1, null);
      mock.timers.tick(pauseMs - 1);
      equal(stand.slot.state, 'down');
      mock.timers.tick(1);
      equal(stand.slot.state, 'starting');
    }
  });

  it('delays the restart more with each early failure', async () => {
    await stand.up();
    for (const pauseMs of [100, 500, 2_000, 5_000, 5_000]) {
      const before = stand.processes.length;
      stand.last.end(1, null);
      equal(stand.slot.state, 'down');
      mock.timers.tick(pauseMs - 1);
      equal(stand.processes.length, before);
      mock.timers.tick(1);
      deepEqual([stand.processes.length, stand.slot.state], [before + 1, 'starting']);
    }
    mock.timers.tick(10_001);
    stand.last.end(null, 'SIGSEGV');
    mock.timers.tick(1);
    equal(stand.slot.state, 'starting');
    mock.timers.tick(10_000);
    stand.last.end(1, null);
    mock.timers.tick(99);
    equal(stand.slot.state, 'down');
    mock.timers.tick(1);
    equal(stand.slot.state, 'starting');
    deepEqual(stand.told.slice(1, 2), [['down', [7, 'exit code 1']]]);
    ok(stand.told.some(([, payload]) => String(payload) === '7,SIGSEGV'));
  });

  it('is not ready until the replacement is, and drops reports of the dead worker', async () => {
    await stand.up();
    stand.last.channel.notify('heartbeat', { revision: 1 });
    await turnsUntil(() => stand.slot.heartbeat !== null);
    deepEqual(stand.told.at(-1), ['heartbeat', { revision: 1 }]);
    stand.last.end(1, null);
    equal(stand.slot.heartbeat, null);
    let isReady = false;
    void stand.slot.ready.then(() => {
      isReady = true;
    });
    mock.timers.tick(100);
    await arrival();
    equal(isReady, false);
    stand.last.end(1, null);
    mock.timers.tick(500);
    stand.last.channel.notify('ready');
    await turnsUntil(() => isReady);
  });

  it('retries if the system cannot start a process', async () => {
    stand.pid = undefined;
    stand.slot.start();
    stand.last.emit('error', new Error('spawn node EAGAIN'));
    deepEqual(stand.told, [['down', [7, 'cannot be started: spawn node EAGAIN']]]);
    equal(stand.slot.pid, null);
    stand.pid = null;
    mock.timers.tick(100);
    deepEqual(stand.told[1], ['down', [7, 'cannot be started: no memory']]);
    stand.pid = 101;
    mock.timers.tick(500);
    stand.last.channel.notify('ready');
    await stand.slot.ready;
    equal(stand.slot.pid, 101);
  });

  it('keeps a worker whose channel reports an error until it exits', async () => {
    await stand.up();
    stand.last.emit('error', new Error('EPIPE'));
    equal(stand.slot.state, 'up');
  });

  it('answers requests of its worker', async () => {
    await stand.up();
    const { channel } = stand.last;
    equal(await channel.ask('shared', { revision: 1, id: 'a', asked: 5 }), 'answer to 5');
    equal(await channel.ask('snapshot', 'a'), 'all of a');
    channel.notify('mirror', { id: 'a', change: 1 });
    channel.notify('event', { type: 'breaker.changed', data: {} });
    await arrival();
    deepEqual(stand.told.slice(1), [
      ['mirror', { id: 'a', change: 1 }],
      ['event', [7, { type: 'breaker.changed', data: {} }]],
    ]);
  });

  describe('on abort', () => {
    it('waits until its worker has exited, and stays empty', async () => {
      await stand.up();
      let isOver = false;
      stand.answer({ stop: () => {} });
      const stopped = stand.slot.stop().then(() => {
        isOver = true;
      });
      equal(stand.slot.state, 'stopping');
      await turnsUntil(() => stand.asked.includes('stop'));
      await arrival();
      equal(isOver, false);
      stand.last.end(0, null);
      await stopped;
      mock.timers.tick(60_000);
      deepEqual([stand.slot.state, stand.processes.length, stand.told.length], ['down', 1, 1]);
    });

    it('does not wait for a worker that dies meanwhile, or has not started', async () => {
      await stand.up();
      stand.answer({ stop: () => stand.last.end(null, 'SIGKILL') });
      await stand.slot.stop();
      stand.slot.start();
      stand.last.end(1, null);
      await stand.slot.stop();
      mock.timers.tick(60_000);
      equal(stand.processes.length, 2);
    });

    it('does not count a worker that is being updated as serving', async () => {
      let go: ((value: null) => void) | undefined;
      stand.answer({
        deny: () =>
          new Promise((resolve) => {
            go = resolve;
          }),
        stop: () => {},
      });
      stand.slot.start();
      stand.last.channel.notify('ready');
      await turnsUntil(() => go !== undefined);
      const stopped = stand.slot.stop();
      go!(null);
      await arrival();
      deepEqual([stand.slot.state, stand.told], ['stopping', []]);
      stand.last.end(0, null);
      await stopped;
    });
  });
});
