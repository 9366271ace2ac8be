import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { BatchQueue } from '../../../../../plugins/telemetry/lib/otlp/batch-queue.ts';
import { ExportError } from '../../../../../plugins/telemetry/lib/otlp/export-error.ts';
import { Outage } from '../../../../../plugins/telemetry/lib/otlp/outage.ts';
import { rememberingLog } from '../../../../support/log.ts';

describe('an OTLP export queue', () => {
  const batches: number[][] = [];
  let outcome: () => Promise<void>;
  let time = 0;
  let log: ReturnType<typeof rememberingLog>;
  let outage: Outage;
  let queue: BatchQueue<number>;

  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  const pass = async (ms: number) => {
    time += ms;
    mock.timers.tick(ms);
    await settle();
  };

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    batches.length = 0;
    time = 0;
    outcome = async () => {};
    log = rememberingLog();
    outage = new Outage(log, 'exporter "c"', () => time);
    queue = new BatchQueue(
      (batch) => {
        batches.push([...batch]);
        return outcome();
      },
      outage,
      'spans',
    );
  });
  afterEach(() => mock.timers.reset());

  it('sends the items of a second in one batch', async () => {
    queue.add(1);
    queue.add(2);
    await pass(999);
    deepEqual(batches, []);
    await pass(1);
    deepEqual(batches, [[1, 2]]);
    await pass(10_000);
    equal(batches.length, 1);
  });

  it('sends a full batch immediately, one batch at a time', async () => {
    let release = () => {};
    outcome = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    for (let item = 0; item < 600; item++) queue.add(item);
    await settle();
    deepEqual(
      batches.map(({ length }) => length),
      [256],
    );
    release();
    await settle();
    await pass(0);
    deepEqual(
      batches.map(({ length }) => length),
      [256, 256],
    );
    release();
    await settle();
  });

  it('holds at most 2048 items, and logs lost items once a minute', async () => {
    outcome = () => Promise.reject(new ExportError('not there', true));
    for (let item = 0; item < 5000; item++) queue.add(item);
    await pass(1000);
    equal(outage.lost, 5000 - 2048);
    equal(log.lines.length, 1);
    await pass(60_000);
    equal(log.lines.length, 2);
    match(log.lines[1]!, /^ERROR exporter "c": not there; 2952 spans lost so far$/);
  });

  it('retries a batch with increasing delays, and logs the recovery', async () => {
    outcome = () => Promise.reject(new ExportError('not there', true));
    queue.add(1);
    await pass(1000);
    await pass(1000);
    await pass(2000);
    equal(batches.length, 3);
    outcome = async () => {};
    await pass(3999);
    equal(batches.length, 3);
    await pass(1);
    deepEqual(batches.at(-1), [1]);
    equal(outage.lost, 0);
    match(log.lines.at(-1)!, /^INFO exporter "c" can be reached again$/);
  });

  it('drops a rejected batch and continues with the next one', async () => {
    outcome = () => Promise.reject(new ExportError('status 400', false));
    queue.add(1);
    await pass(1000);
    outcome = async () => {};
    queue.add(2);
    await pass(1000);
    deepEqual(batches, [[1], [2]]);
    equal(outage.lost, 0);
    match(log.lines[0]!, /status 400; 1 spans lost so far/);
  });

  it('sends waiting items when it closes, and accepts no more', async () => {
    for (let item = 0; item < 300; item++) queue.add(item);
    await queue.close(5000);
    equal(batches.flat().length, 300);
    queue.add(1);
    equal(outage.lost, 1);
  });

  it('closes in time if the server is unreachable, and counts the lost items', async () => {
    outcome = () => new Promise(() => {});
    queue.add(1);
    const closed = queue.close(5000);
    await settle();
    // Allows a small tolerance, because the remaining time is a difference of two times, which rounding can make longer
    // than 5000 ms.
    await pass(5001);
    await closed;
    ok(log.lines.some((line) => /closed before all items were sent; 1 spans lost/.test(line)));
  });
});
