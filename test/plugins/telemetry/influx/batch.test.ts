import { deepEqual, equal, ok } from 'node:assert/strict';
import { BatchWriter } from '../../../../plugins/telemetry/influx/batch.ts';
import { Delivery } from '../../../../plugins/telemetry/influx/delivery.ts';
import { Stats } from '../../../../plugins/telemetry/metrics/stats.ts';
import { rememberingLog } from '../../../support/log.ts';
import { parseLines } from './receiver.ts';

const shown = () => true;

describe('an InfluxDB batch', () => {
  const namesOf = async (names: readonly string[], host = 'here') => {
    const stats = new Stats();
    for (const name of names) stats.counter(`router.response.${name}.status.200.count`).value = 1;
    const points = parseLines(await new BatchWriter(host).print(stats.snapshot(shown)));
    return points.filter(({ measurement }) => measurement === 'responses').map(({ tags }) => tags['name']);
  };

  for (const name of [
    '/a,b',
    '/a b',
    '/a=b',
    '/a,status=500 total=9i 1',
    '/ü/€',
    '"',
    '/a.status.b',
    '__proto__',
    '#',
  ]) {
    it(`preserves the name ${name}`, async () => deepEqual(await namesOf([name]), [name]));
  }

  for (const [name, written] of [
    ['/a\nresponses,name=b total=1i', '/a\\nresponses,name=b total=1i'],
    ['/a\r\n', '/a\\r\\n'],
    ['/a\\', '/a%5C'],
    ['/a\\,b', '/a%5C,b'],
    ['/a\\\\=b', '/a%5C%5C=b'],
    ['/a\\d', '/a\\d'],
    ['/a\\\n', '/a%5C\\n'],
  ] as const) {
    it(`writes ${JSON.stringify(name)} as a single tag ${written}`, async () =>
      deepEqual(await namesOf([name]), [written]));
  }

  it('omits an empty tag, which the protocol does not support', async () => {
    deepEqual(await namesOf(['']), [undefined]);
    deepEqual(await namesOf(['/a'], ''), ['/a']);
  });

  it('counts from zero in a series that was dropped in between', async () => {
    const writer = new BatchWriter('here');
    const countOf = async (value: number) => {
      const stats = new Stats();
      stats.counter('router.response./a.status.200.count').value = value;
      const points = parseLines(await writer.print(stats.snapshot(shown)));
      return points.find(({ measurement }) => measurement === 'responses')!.fields['count'];
    };
    deepEqual([await countOf(5), await countOf(7), await countOf(3)], [5, 2, 3]);
  });

  it('is empty if nothing was counted', async () => {
    const nothing = {
      time: new Date(),
      counters: [],
      gauges: {},
      samples: [['router.response./a.time', [1]]],
    } as const;
    equal(await new BatchWriter('here').print(nothing), '');
  });

  it('yields to the event loop while it summarizes many histograms', async () => {
    const stats = new Stats();
    for (let number = 0; number < 200; number++) {
      for (let value = 0; value < 1000; value++) stats.sample(`router.response./${number}.time`).add(value);
    }
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    count();
    const lines = await new BatchWriter('here').print(stats.snapshot(shown));
    isOver = true;
    ok(turns >= 10, `${turns}`);
    equal(parseLines(lines).filter(({ measurement }) => measurement === 'router.response-time').length, 200);
  });
});

describe('the delivery of InfluxDB batches', () => {
  const open = (bufferSize: number) => {
    const log = rememberingLog();
    const writes: string[] = [];
    const state = { isDown: true, text: '/a' };
    const stats = new Stats();
    const snapshot = () => {
      stats.counter(`router.response.${state.text}.status.200.count`).value += 1;
      return stats.snapshot(shown);
    };
    const server = {
      write: async (lines: string) => {
        if (state.isDown) throw new Error('down');
        writes.push(lines);
      },
    };
    const delivery = new Delivery();
    delivery.target = { server, snapshot, bufferSize, log };
    return {
      delivery,
      push: () => delivery.push(),
      writes,
      state,
      lines: log.lines,
    };
  };
  const totals = (lines: string) => [...lines.matchAll(/ total=(\d+)i,count/g)].map(([, total]) => Number(total));

  it('sends waiting batches in one write, oldest first', async () => {
    const { push, writes, state, lines } = open(2);
    for (let count = 0; count < 4; count++) await push();
    state.isDown = false;
    await push();
    deepEqual(writes.map(totals), [[5], [3, 4]]);
    await push();
    deepEqual(writes.map(totals).at(-1), [6]);
    deepEqual(lines, ["ERROR Couldn't write to server: down", 'INFO The server accepts writes again']);
  });

  it('keeps no failed batches without a buffer', async () => {
    const { push, writes, state } = open(0);
    await push();
    state.isDown = false;
    await push();
    deepEqual(writes.map(totals), [[2]]);
  });

  it('keeps the waiting batches if the write after the first successful one fails', async () => {
    const { push, writes, state } = open(3);
    await push();
    state.isDown = false;
    const { push: take } = writes;
    writes.push = (lines: string) => {
      state.isDown = true;
      return take.call(writes, lines);
    };
    await push();
    deepEqual(writes.map(totals), [[2]]);
    writes.push = take;
    state.isDown = false;
    await push();
    deepEqual(writes.map(totals), [[2], [3], [1]]);
  });

  it('sends the last counts when it closes, unless the server is unreachable', async () => {
    const { push, delivery, writes, state } = open(2);
    await push();
    await delivery.close();
    deepEqual(writes, []);
    const other = open(2);
    other.state.isDown = false;
    await other.push();
    await other.delivery.close();
    deepEqual(other.writes.map(totals), [[1], [2]]);
    await new Delivery().close();
    state.isDown = false;
  });

  it('buffers at most 16 MiB, regardless of the configured number of batches', async () => {
    const { push, writes, state } = open(1000);
    state.text = 'x'.repeat(5 * 1024 * 1024);
    for (let count = 0; count < 6; count++) await push();
    state.isDown = false;
    await push();
    deepEqual(writes.map(totals), [[7], [4, 5, 6]]);
  });
});
