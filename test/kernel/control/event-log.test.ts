import { deepEqual, equal, ok } from 'node:assert/strict';
import {
  createEventLog,
  type EventLog,
  type GatewayEvent,
  type Subscription,
} from '../../../kernel/control/event-log.ts';

const up = { worker: 1, pid: 7 };
const down = { ...up, reason: 'SIGKILL' };
const phase = { attempt: 1, phase: 'build' } as const;

/** IDs of the events that a subscriber receives. */
function heard(log: EventLog, subscription: Subscription = {}): number[] {
  const ids: number[] = [];
  log.subscribe(subscription, ({ id }) => ids.push(id));
  return ids;
}

describe('the event log', () => {
  it('gives ids that grow by one', () => {
    const log = createEventLog();
    deepEqual([log.emit('worker.up', up), log.emit('worker.down', down)], [1, 2]);
  });

  it('stores type, time and data', () => {
    const before = Date.now();
    const log = createEventLog();
    const events: GatewayEvent[] = [];
    log.subscribe({}, (event) => events.push(event));
    log.emit('worker.up', up);
    const [{ at, ...event }] = events as [GatewayEvent];
    deepEqual(event, { id: 1, type: 'worker.up', data: up });
    ok(at >= before && at <= Date.now());
  });

  it('sends only future events if no id is given', () => {
    const log = createEventLog();
    log.emit('worker.up', up);
    const ids = heard(log);
    log.emit('worker.down', down);
    deepEqual(ids, [2]);
  });

  it('sends the stored events after a given ID, then new events', () => {
    const log = createEventLog();
    for (let at = 0; at < 3; at++) log.emit('reload.phase', phase);
    const ids = heard(log, { after: 1 });
    deepEqual(ids, [2, 3]);
    log.emit('reload.phase', phase);
    deepEqual(ids, [2, 3, 4]);
  });

  it('sends all stored events if the id is from before a restart', () => {
    const log = createEventLog();
    log.emit('worker.up', up);
    const ids = heard(log, { after: 900 });
    log.emit('worker.up', up);
    deepEqual(ids, [1, 2]);
  });

  it('stores no more events than its limit', () => {
    const log = createEventLog(2);
    for (let at = 0; at < 5; at++) log.emit('reload.phase', phase);
    deepEqual(heard(log, { after: 0 }), [4, 5]);
  });

  const patterns: readonly (readonly [types: readonly string[], ids: readonly number[]])[] = [
    [['reload.*'], [1, 3]],
    [['worker.up'], [2]],
    [
      ['worker.*', 'reload.phase'],
      [2, 3],
    ],
    [['*'], [1, 2, 3]],
    [['worker'], []],
    [[], []],
  ];
  for (const [types, ids] of patterns) {
    it(`sends ${ids.length} of three events to subscribers of ${JSON.stringify(types)}, live and stored`, () => {
      const log = createEventLog();
      const live = heard(log, { types });
      log.emit('reload.started', { attempt: 1, trigger: 'api' });
      log.emit('worker.up', up);
      log.emit('reload.phase', phase);
      deepEqual([live, heard(log, { after: 0, types })], [ids, ids]);
    });
  }

  it('sends nothing to a listener that has unsubscribed', () => {
    const log = createEventLog();
    const ids: number[] = [];
    const unsubscribe = log.subscribe({}, ({ id }) => ids.push(id));
    log.emit('worker.up', up);
    unsubscribe();
    log.emit('worker.up', up);
    deepEqual(ids, [1]);
  });

  it('drops only a listener that throws', () => {
    const log = createEventLog();
    let calls = 0;
    log.subscribe({}, () => {
      calls++;
      throw new Error('gone');
    });
    const ids = heard(log);
    log.emit('worker.up', up);
    log.emit('worker.up', up);
    deepEqual([calls, ids], [1, [1, 2]]);
  });

  it('drops a listener that throws on a stored event', () => {
    const log = createEventLog();
    log.emit('worker.up', up);
    log.emit('worker.up', up);
    let calls = 0;
    log.subscribe({ after: 0 }, () => {
      calls++;
      throw new Error('gone');
    });
    log.emit('worker.up', up);
    equal(calls, 1);
  });

  it('delivers events to all listeners in order, even if a listener emits an event', () => {
    const log = createEventLog();
    log.subscribe({ types: ['drain.started'] }, () => log.emit('drain.finished', { result: 'idle' }));
    const ids = heard(log);
    log.emit('drain.started', { requests: 0 });
    deepEqual(ids, [1, 2]);
  });

  it('sends a listener its own event after the listener has returned', () => {
    const log = createEventLog();
    const steps: string[] = [];
    log.subscribe({}, ({ type }) => {
      steps.push(`> ${type}`);
      if (type === 'drain.started') log.emit('drain.finished', { result: 'idle' });
      steps.push(`< ${type}`);
    });
    log.emit('drain.started', { requests: 0 });
    deepEqual(steps, ['> drain.started', '< drain.started', '> drain.finished', '< drain.finished']);
  });

  it('sends an event once to a listener that subscribes while the event is delivered', () => {
    const log = createEventLog();
    let late: number[] | undefined;
    log.subscribe({}, () => {
      late ??= heard(log, { after: 0 });
    });
    log.emit('worker.up', up);
    deepEqual(late, [1]);
  });

  it('sends nothing more to a listener that unsubscribes itself', () => {
    const log = createEventLog();
    const ids: number[] = [];
    const unsubscribe = log.subscribe({}, ({ id, type }) => {
      ids.push(id);
      if (type === 'worker.up') log.emit('worker.down', down);
      unsubscribe();
    });
    log.emit('worker.up', up);
    deepEqual(ids, [1]);
  });
});
