import { deepEqual, equal, ok } from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin as kafkaSubscriber } from '../../../../plugins/backend/pubsub/subscriber/kafka.ts';
import { loadKafka } from '../../../../plugins/clients/kafka/client.ts';
import { plugin as json } from '../../../../plugins/encoding/json.ts';
import { until } from '../../../support/conditions.ts';
import { countingMeter } from '../../../support/counting.ts';
import { startGateway } from '../../../support/gateway.ts';
import { describeKafka } from './kafka-stage.ts';

describeKafka((stage) => {
  const { cluster, fresh, lines, start, endpoint, kafka, writer, reader, write, read, joined } = stage;

  it('returns each record that arrives while a request waits exactly once, even after a restart', async () => {
    const topic = fresh('one');
    const config = reader(
      topic,
      { group: { id: 'g1' }, key_meta: 'X-Order' },
      { output_encoding: 'json', timeout: '5s' },
    );
    await start(config);
    await joined(topic);
    const reply = read();
    await stage.broker.produce(topic, '{"n":1}');
    deepEqual([(await reply).statusCode, (await reply).json()], [200, { n: 1 }]);
    await stage.broker.produce(topic, '{"n":2}');
    deepEqual((await read()).json(), { n: 2 });
    await stage.gateway!.close();
    await stage.broker.produce(topic, '{"n":3}');
    await start(config);
    deepEqual((await read()).json(), { n: 3 });
  });

  it("returns the record's key in a response header", async () => {
    const topic = fresh('one');
    await start(reader(topic, { group: { id: 'g2' }, key_meta: 'X-Order' }, { output_encoding: 'no-op' }));
    await joined(topic);
    await stage.broker.produce(topic, 'k7:bytes', '-K', ':');
    const reply = await read();
    deepEqual([reply.body, reply.headers['x-order']], ['bytes', 'k7']);
  });

  it('fails for a record that cannot be decoded, and continues with the next one', async () => {
    const topic = fresh('one');
    await start(reader(topic, { group: { id: 'g3' } }));
    await joined(topic);
    await stage.broker.produce(topic, 'oops');
    await stage.broker.produce(topic, '{"n":2}');
    equal((await read()).statusCode, 500);
    deepEqual((await read()).json(), { n: 2 });
    equal(lines('cannot be decoded as json').length, 1);
  });

  it('reads kafka:// from the newest offset, or from the oldest if configured', async () => {
    const topic = fresh('one');
    await stage.broker.produce(topic, '{"old":true}');
    const take = (path: string, url: string) =>
      endpoint(path, { 'backend/pubsub/subscriber': { subscription_url: url } }, {}, kafka);
    await start(take('/oldest', `old?topic=${topic}&offset=oldest`), take('/read', `new?topic=${topic}`));
    deepEqual((await stage.gateway!.inject('/oldest')).json(), { old: true });
    await joined(topic);
    await stage.broker.produce(topic, '{"new":true}');
    deepEqual((await read()).json(), { new: true });
  });

  it('starts without a broker, fails requests, and recovers when the broker starts', async () => {
    const topic = fresh('one');
    await stage.broker.stop();
    await start(
      writer(topic, { producer: { retry_max: 0 } }),
      reader(topic, { group: { id: 'g4' } }, { timeout: '3s' }),
    );
    equal((await stage.gateway!.inject('/__health')).statusCode, 200);
    const failed = await write();
    deepEqual([failed.statusCode, /ECONNREFUSED/.test(failed.body)], [500, true]);
    equal((await read()).statusCode, 500);
    ok(lines('not connected').some((line) => line.includes('ERROR')));
    await stage.broker.start();
    await until(async () => (await write()).statusCode === 200);
    await until(async () => {
      await write();
      return (await read()).statusCode === 200;
    });
  });

  it('resumes writing and reading after the broker was lost', async () => {
    const topic = fresh('one');
    await start(
      writer(topic, { producer: { retry_max: 0 } }),
      reader(topic, { group: { id: 'g5' } }, { timeout: '20s' }),
    );
    await joined(topic);
    await write('{"n":1}');
    deepEqual((await read()).json(), { n: 1 });
    await stage.broker.stop();
    equal((await write('{"n":"lost"}')).statusCode, 500);
    await stage.broker.start();
    await until(async () => (await write('{"n":2}')).statusCode === 200);
    deepEqual((await read()).json(), { n: 2 });
  });

  it('keeps its clients and prefetched records across reloads', async () => {
    const topic = fresh('one');
    const config = (path: string) => ({
      version: 3,
      endpoints: [
        reader(topic, { group: { id: 'g6' } }),
        { endpoint: path, backend: [{ host: ['http://a'], url_pattern: '/' }] },
      ],
    });
    stage.gateway = await startGateway(config('/a'), { sinks: stage.sinks });
    await joined(topic);
    await stage.broker.produce(topic, '{"n":1}\n{"n":2}\n{"n":3}');
    deepEqual((await read()).json(), { n: 1 });
    await stage.gateway.reload(config('/b'));
    deepEqual((await read()).json(), { n: 2 });
    await stage.gateway.reload(config('/c'));
    deepEqual((await read()).json(), { n: 3 });
  });

  it('discards records that are too large after decompression, with a log line, and continues', async () => {
    const topic = fresh('one');
    await start(reader(topic, { group: { id: 'g9' } }));
    await joined(topic);
    const { Producer } = await loadKafka();
    const writer = new Producer({ clientId: 'w', bootstrapBrokers: [stage.broker.address] });
    const value = (text: Buffer | string) => ({ topic, value: Buffer.from(text) });
    await writer.send({ messages: [value(Buffer.alloc(70 * 1024 * 1024))], compression: 'gzip', acks: 1 });
    await writer.send({ messages: [value('{"n":1}'), value('{"n":2}')], compression: 'lz4', acks: 1 });
    await writer.close();
    deepEqual((await read()).json(), { n: 1 });
    deepEqual((await read()).json(), { n: 2 });
    equal(lines(`records of ${topic}:0 from`).length, 1);
    equal(lines('not connected').length, 0);
  });

  for (const [what, bytes, compression] of [
    ['invalid record bytes', Buffer.alloc(40, 0xff), 'none'],
    ['a record longer than its batch', Buffer.from([0x7e, 0, 0, 0]), 'none'],
    ['invalid record bytes after decompression', Buffer.alloc(40, 0xff), 'gzip'],
    ['an empty batch', Buffer.alloc(0), 'gzip'],
  ] as const) {
    it(`continues after ${what}, with one log line`, async () => {
      const topic = fresh('one');
      await start(reader(topic, { group: { id: topic } }));
      await joined(topic);
      await stage.broker.produceBytes(topic, bytes, compression);
      await stage.broker.produce(topic, '{"n":1}');
      deepEqual((await read()).json(), { n: 1 });
      equal(lines(`records of ${topic}:0 from`).length, 1);
      equal(lines('connected').filter((line) => line.includes('ERROR')).length, 0);
      // Restarts the gateway, to show that neither of the two records is read again.
      await stage.gateway!.close();
      await start(reader(topic, { group: { id: topic } }));
      await stage.broker.produce(topic, '{"n":2}');
      deepEqual((await read()).json(), { n: 2 });
      equal(lines(`records of ${topic}:0 from`).length, 1);
    });
  }

  it('counts unreadable records', async () => {
    const topic = fresh('one');
    const { counts, offers } = countingMeter();
    const config = { reader: { topics: [topic], cluster: cluster(), group: { id: topic } } };
    const gate = await openHarness(kafkaSubscriber, 'backend', config, { plugins: [json], offers });
    let isRead = false;
    while (!isRead) {
      await stage.broker.produce(topic, '{}');
      const reply = await gate.send('GET /');
      isRead = reply.errors.length === 0;
    }
    await stage.broker.produceBytes(topic, Buffer.alloc(40, 0xff));
    await until(() => counts.get('pubsub.discarded') === 1);
    await gate.close();
  });

  it('rejoins its group after a rebalance in which it could not join', async () => {
    const topic = fresh('one');
    const consumers: EventEmitter[] = [];
    const watch = (message: unknown) => {
      const { type, instance } = message as { type: string; instance: EventEmitter };
      if (type === 'consumer') consumers.push(instance);
    };
    subscribe('plt:kafka:instances', watch);
    try {
      await start(reader(topic, { group: { id: 'g10' } }));
      await joined(topic);
      // Emits an error as the client library does, which then does not reconnect.
      consumers.at(-1)!.emit('error', new Error('cannot join'));
      await until(() => consumers.length === 2);
      // Waits for the session to expire: a consumer that disappears while it joins its group delays the next consumer
      // until then.
      await joined(topic);
      consumers.at(-1)!.emit('consumer:heartbeat:stalled', { lastError: new Error('silence') });
      await until(() => consumers.length === 3);
      await stage.broker.produce(topic, '{"n":1}');
      deepEqual((await read()).json(), { n: 1 });
      deepEqual([lines('cannot join').length, lines('heartbeats fail').length], [1, 1]);
    } finally {
      unsubscribe('plt:kafka:instances', watch);
    }
  });

  it('stops fetching once its buffer is full, until requests arrive', async () => {
    const topic = fresh('one');
    const records = Array.from({ length: 200 }, (_, n) => `{"n":${n}}`);
    await start(reader(topic, { cluster: { ...cluster(), channel_buffer_size: 5 }, group: { id: 'g8' } }));
    await joined(topic);
    await stage.broker.produce(topic, records.join('\n'));
    const numbers: number[] = [];
    for (const _record of records) numbers.push((await read()).json().n);
    deepEqual(
      numbers,
      records.map((_record, n) => n),
    );
  });

  it('fails at its deadline if the broker does not respond', async () => {
    const topic = fresh('t');
    await start(writer(topic, {}, {}, { timeout: '500ms' }));
    await until(async () => (await write()).statusCode === 200);
    stage.broker.pause();
    try {
      // Sends another request, because the broker can answer one more before it is suspended.
      await until(async () => (await write()).statusCode === 500);
    } finally {
      stage.broker.resume();
    }
    await until(async () => (await write()).statusCode === 200);
  });

  it('assigns different partitions to the members of a group', async () => {
    const topic = fresh('t');
    const group = { id: 'g7', session_timeout: '6s', heartbeat_interval: '100ms' };
    await start(reader(topic, { group }, { timeout: '500ms' }));
    const first = stage.gateway!;
    await start(reader(topic, { group }, { timeout: '500ms' }));
    const second = stage.gateway!;
    try {
      const seen = { first: new Set<number>(), second: new Set<number>() };
      await until(async () => {
        for (const partition of [0, 1, 2])
          await stage.broker.produce(topic, `{"partition":${partition}}`, '-p', String(partition));
        for (const [name, one] of [
          ['first', first],
          ['second', second],
        ] as const) {
          const { statusCode, body } = await one.inject('/read');
          if (statusCode === 200) seen[name].add(JSON.parse(body).partition);
        }
        return seen.first.size > 0 && seen.second.size > 0;
      });
    } finally {
      await first.close();
    }
  });
});
