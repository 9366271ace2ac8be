import { deepEqual, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { type MessagePort, Worker } from 'node:worker_threads';
import { LimitedLog } from '../../kernel/containment/limited-log.ts';
import { PortLine } from '../../kernel/registry/isolation/port-line.ts';
import { MetricStore } from '../../plugins/telemetry/lib/metrics/store.ts';

describe('bounds of data that plugins fill', function () {
  this.timeout(60_000);

  it('fail calls to a thread with ten thousand pending calls', async () => {
    const port = { postMessage() {} } as unknown as MessagePort;
    const line = new PortLine(port, () => null).at(0);
    for (let at = 0; at < 10_000; at++) void line.ask('look', at);
    await rejects(line.ask('look', 10_000) as Promise<unknown>, /the other thread has not answered 10000 messages/);
  });

  it('keep at most a thousand instruments in a store of metrics', () => {
    const store = new MetricStore();
    for (let at = 0; at <= 1000; at++) store.counter(`c${at}`, { description: 'A counter.' }).add(1);
    const names = store.take().map(({ name }) => name);
    deepEqual([names.length, names.at(-1)], [1000, 'c999']);
  });

  it('remember at most a thousand repeated log lines', () => {
    const lines: string[] = [];
    const log = new LimitedLog((line) => lines.push(line));
    for (let at = 0; at < 1000; at++) log.write(`a${at}`, `a${at}`);
    log.write('a1', 'held back');
    log.write('one more', 'one more');
    log.write('a0', 'written again');
    deepEqual(lines.slice(1000), ['one more', 'written again']);
    log.close();
  });

  it('monitor at most a hundred thousand different hooks of plugins', async () => {
    // The test runs in a separate thread, because performance marks are not removed before the end of the process.
    const marks = new URL('../../kernel/containment/marks.ts', import.meta.url).href;
    const program = `import(${JSON.stringify(marks)}).then(({ numberOf }) => {
      const of = (at) => numberOf({ plugin: 'p', hash: 'h', hook: 'proxy', endpoint: 'GET /' + at });
      for (let at = 0; at < 100000; at++) of(at);
      require('node:worker_threads').parentPort.postMessage([of(0), of(99999), of(100000)]);
    });`;
    const thread = new Worker(program, { eval: true });
    const [numbers] = await once(thread, 'message');
    await thread.terminate();
    deepEqual(numbers, [1, 100_000, 0]);
  });
});
