import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { GatewayError } from '../../../kernel/contract/internal.ts';
import { arrival, turnsUntil } from './lines.ts';
import { order, SlotHarness } from './slots.ts';

describe('a worker slot, which holds one worker process and its replacements,', () => {
  let harness: SlotHarness;

  beforeEach(() => {
    harness = new SlotHarness();
  });
  afterEach(() => harness.close());

  it('is empty until its first worker starts', () => {
    deepEqual(
      [harness.slot.state, harness.slot.pid, harness.slot.uptimeMs, harness.slot.heartbeat],
      ['down', null, 0, null],
    );
  });

  it('has a worker that waits for the first configuration, and knows the denied addresses', async () => {
    harness.slot.start();
    mock.timers.tick(400);
    deepEqual([harness.slot.state, harness.slot.pid, harness.slot.uptimeMs], ['starting', 100, 0]);
    harness.last.channel.notify('ready');
    await harness.slot.ready;
    deepEqual(harness.last.orders, [['deny', harness.owner.denied]]);
    deepEqual([harness.slot.state, harness.slot.uptimeMs, harness.reports], ['up', 400, [['up', 7]]]);
  });

  it('updates its worker to the committed configuration, and lets it listen at the port of the other workers', async () => {
    Object.assign(harness.owner, { committed: order(3), listens: true, target: { known: 8080 } });
    await harness.up();
    deepEqual(harness.last.orders, [
      ['deny', harness.owner.denied],
      ['prepare', order(3)],
      ['commit', 3],
      ['listen', { known: 8080 }],
    ]);
  });

  const long = (revision: number, changed = '') => ({
    ...order(revision),
    text: `${'a'.repeat(70_000)}${changed}${'b'.repeat(70_000)}`,
  });

  it('sends only the changed part of a long configuration, or all of it if the worker has a different version', async () => {
    harness.owner.committed = long(3);
    await harness.up();
    const { text: _text, ...next } = long(4);
    await harness.slot.prepare(long(4, 'xyz'));
    const change = { of: 3, start: 70_000, end: 70_000, text: 'xyz' };
    deepEqual(harness.last.orders.at(-1), ['prepare', { ...next, change }]);
    harness.answer({
      prepare(asked: object) {
        if ('change' in asked) throw new GatewayError('TEXT_UNKNOWN', 'it has another one');
      },
    });
    await harness.slot.prepare(long(5, 'z'));
    deepEqual(harness.last.orders.at(-1), ['prepare', long(5, 'z')]);
  });

  it('lets a worker listen only once the other workers listen', async () => {
    harness.owner.committed = order(3);
    await harness.up();
    deepEqual(harness.asked, ['deny', 'prepare', 'commit']);
  });

  it('continues with the configuration that was committed while the worker was starting', async () => {
    harness.owner.committed = order(3);
    const { commit } = harness.answers;
    harness.answer({
      commit: (revision: number) => {
        harness.owner.committed = order(4);
        harness.answer({ commit: commit! });
        return { revision, rebound: [], port: null };
      },
    });
    await harness.up();
    deepEqual(
      harness.last.orders.filter(([name]) => name === 'prepare'),
      [
        ['prepare', order(3)],
        ['prepare', order(4)],
      ],
    );
    equal(harness.reports.length, 1);
  });

  it('replaces a worker that cannot serve the committed configuration', async () => {
    harness.owner.committed = order(3);
    const { commit } = harness.answers;
    harness.answer({ commit: () => ({ revision: 0, rebound: [], port: null }) });
    harness.slot.start();
    harness.last.channel.notify('ready');
    await turnsUntil(() => harness.slot.state === 'down');
    deepEqual(harness.lines, ['worker 7 failed to start: it uses revision 0']);
    deepEqual(harness.reports, [['down', [7, 'SIGKILL']]]);
    harness.answer({ commit: commit! });
    mock.timers.tick(100);
    harness.last.channel.notify('ready');
    await harness.slot.ready;
    equal(harness.processes.length, 2);
  });

  for (const late of ['deny', 'prepare', 'commit', 'listen']) {
    it(`replaces a worker that does not answer "${late}" within 30 seconds`, async () => {
      Object.assign(harness.owner, { committed: order(3), listens: true });
      harness.answer({ [late]: () => new Promise(() => {}) });
      harness.slot.start();
      harness.last.channel.notify('ready');
      await turnsUntil(() => harness.asked.includes(late));
      mock.timers.tick(29_999);
      await arrival();
      equal(harness.slot.state, 'starting');
      mock.timers.tick(1);
      await turnsUntil(() => harness.slot.state === 'down');
      deepEqual(harness.lines, ['worker 7 failed to start: no response within 30000 ms']);
    });
  }

  it('delays the restart of failing workers even if the system clock is set forward', async () => {
    await harness.up();
    for (const pauseMs of [100, 500, 2_000]) {
      harness.setClock(3_600_000);
      harness.last.end(1, null);
      mock.timers.tick(pauseMs - 1);
      equal(harness.slot.state, 'down');
      mock.timers.tick(1);
      equal(harness.slot.state, 'starting');
    }
  });

  it('delays the restart more with each early failure', async () => {
    await harness.up();
    for (const pauseMs of [100, 500, 2_000, 5_000, 5_000]) {
      const before = harness.processes.length;
      harness.last.end(1, null);
      equal(harness.slot.state, 'down');
      mock.timers.tick(pauseMs - 1);
      equal(harness.processes.length, before);
      mock.timers.tick(1);
      deepEqual([harness.processes.length, harness.slot.state], [before + 1, 'starting']);
    }
    mock.timers.tick(10_001);
    harness.last.end(null, 'SIGSEGV');
    mock.timers.tick(1);
    equal(harness.slot.state, 'starting');
    mock.timers.tick(10_000);
    harness.last.end(1, null);
    mock.timers.tick(99);
    equal(harness.slot.state, 'down');
    mock.timers.tick(1);
    equal(harness.slot.state, 'starting');
    deepEqual(harness.reports.slice(1, 2), [['down', [7, 'exit code 1']]]);
    ok(harness.reports.some(([, payload]) => String(payload) === '7,SIGSEGV'));
  });

  it('is not ready until the replacement is, and drops reports of the dead worker', async () => {
    await harness.up();
    harness.last.channel.notify('heartbeat', { revision: 1 });
    await turnsUntil(() => harness.slot.heartbeat !== null);
    deepEqual(harness.reports.at(-1), ['heartbeat', { revision: 1 }]);
    harness.last.end(1, null);
    equal(harness.slot.heartbeat, null);
    let isReady = false;
    void harness.slot.ready.then(() => {
      isReady = true;
    });
    mock.timers.tick(100);
    await arrival();
    equal(isReady, false);
    harness.last.end(1, null);
    mock.timers.tick(500);
    harness.last.channel.notify('ready');
    await turnsUntil(() => isReady);
  });

  it('retries if the system cannot start a process', async () => {
    harness.pid = undefined;
    harness.slot.start();
    harness.last.emit('error', new Error('spawn node EAGAIN'));
    deepEqual(harness.reports, [['down', [7, 'cannot be started: spawn node EAGAIN']]]);
    equal(harness.slot.pid, null);
    harness.pid = null;
    mock.timers.tick(100);
    deepEqual(harness.reports[1], ['down', [7, 'cannot be started: no memory']]);
    harness.pid = 101;
    mock.timers.tick(500);
    harness.last.channel.notify('ready');
    await harness.slot.ready;
    equal(harness.slot.pid, 101);
  });

  it('keeps a worker whose channel reports an error until it exits', async () => {
    await harness.up();
    harness.last.emit('error', new Error('EPIPE'));
    equal(harness.slot.state, 'up');
  });

  it('answers requests of its worker', async () => {
    await harness.up();
    const { channel } = harness.last;
    equal(await channel.ask('shared', { revision: 1, id: 'a', question: 5 }), 'answer to 5');
    equal(await channel.ask('snapshot', 'a'), 'all of a');
    channel.notify('mirror', { id: 'a', change: 1 });
    channel.notify('event', { type: 'breaker.changed', data: {} });
    await arrival();
    deepEqual(harness.reports.slice(1), [
      ['mirror', { id: 'a', change: 1 }],
      ['event', [7, { type: 'breaker.changed', data: {} }]],
    ]);
  });

  describe('on abort', () => {
    it('waits until its worker has exited, and starts no other', async () => {
      await harness.up();
      let isOver = false;
      harness.answer({ stop: () => {} });
      const stopped = harness.slot.stop().then(() => {
        isOver = true;
      });
      equal(harness.slot.state, 'stopping');
      await turnsUntil(() => harness.asked.includes('stop'));
      await arrival();
      equal(isOver, false);
      harness.last.end(0, null);
      await stopped;
      mock.timers.tick(60_000);
      deepEqual([harness.slot.state, harness.processes.length, harness.reports.length], ['down', 1, 1]);
    });

    it('does not wait for a worker that dies in the meantime, or has not started', async () => {
      await harness.up();
      harness.answer({ stop: () => harness.last.end(null, 'SIGKILL') });
      await harness.slot.stop();
      harness.slot.start();
      harness.last.end(1, null);
      await harness.slot.stop();
      mock.timers.tick(60_000);
      equal(harness.processes.length, 2);
    });

    it('does not count a worker that is being updated as serving', async () => {
      let go: ((value: null) => void) | undefined;
      harness.answer({
        deny: () =>
          new Promise((resolve) => {
            go = resolve;
          }),
        stop: () => {},
      });
      harness.slot.start();
      harness.last.channel.notify('ready');
      await turnsUntil(() => go !== undefined);
      const stopped = harness.slot.stop();
      go!(null);
      await arrival();
      deepEqual([harness.slot.state, harness.reports], ['stopping', []]);
      harness.last.end(0, null);
      await stopped;
    });
  });
});
