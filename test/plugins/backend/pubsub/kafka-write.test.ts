import { deepEqual, equal, ok } from 'node:assert/strict';
import { until } from '../../../support/conditions.ts';
import { describeKafka } from './kafka-stage.ts';

describeKafka((stage) => {
  const { fresh, lines, start, endpoint, kafka, cluster, writer, write } = stage;

  it('publishes the body and the forwarded headers to kafka://', async () => {
    const topic = fresh('t');
    await start(
      endpoint(
        '/write',
        { 'backend/pubsub/publisher': { topic_url: `${topic}?key_name=X-Key` } },
        { method: 'POST', input_headers: ['X-Key', 'X-A'] },
        kafka,
      ),
    );
    const reply = await write('x=1', { 'X-A': '1', 'X-Key': 'k' });
    deepEqual([reply.statusCode, reply.body, reply.headers['x-gateway-completed']], [200, '{}', 'false']);
    const [record] = await stage.broker.records(topic);
    deepEqual([record!.key, record!.value], ['k', 'x=1']);
    ok(record!.headers.includes('X-A=1'));
    ok(!record!.headers.some((header) => header.startsWith('X-Key')));
  });

  it('writes a record with its key from a header, and responds with success_status_code', async () => {
    const topic = fresh('t');
    await start(writer(topic, { key_meta: 'X-Key' }, { success_status_code: 201 }));
    const reply = await write('{"a":1}', { 'X-Key': 'k1', 'X-A': ['1', '2'] });
    deepEqual([reply.statusCode, reply.body, reply.headers['x-gateway-completed']], [201, '{}', 'false']);
    const [record] = await stage.broker.records(topic);
    deepEqual([record!.key, record!.value], ['k1', '{"a":1}']);
    deepEqual(
      record!.headers.filter((header) => /^X-(?:A|Key)=/.test(header)),
      ['X-A=1', 'X-A=2'],
    );
  });

  it('writes a record without a key if the key header is missing', async () => {
    const topic = fresh('t');
    await start(writer(topic, { key_meta: 'X-Key' }, { success_status_code: 201 }));
    equal((await write()).statusCode, 201);
    equal((await stage.broker.records(topic))[0]!.key, null);
  });

  it('writes records with the same key to the same partition', async () => {
    const topic = fresh('t');
    await start(writer(topic, { key_meta: 'X-Key' }));
    for (const key of ['a', 'b', 'c', 'd', 'a', 'b', 'c', 'd']) await write('x', { 'X-Key': key });
    const places = new Map<string, Set<number>>();
    for (const { key, partition } of await stage.broker.records(topic)) {
      places.set(key!, (places.get(key!) ?? new Set()).add(partition));
    }
    deepEqual(
      [...places.values()].map(({ size }) => size),
      [1, 1, 1, 1],
    );
    ok(new Set([...places.values()].flatMap((all) => [...all])).size > 1);
  });

  for (const [partitioner, isSpread] of [
    ['roundrobin', true],
    ['random', true],
    ['sarama', false],
    ['standard', false],
  ] as const) {
    it(`${isSpread ? 'spreads records with one key over partitions' : 'keeps records with one key in one partition'} with the partitioner ${partitioner}`, async () => {
      const topic = fresh('t');
      await start(writer(topic, { key_meta: 'X-Key', producer: { partitioner } }));
      for (let at = 0; at < 20; at++) await write('x', { 'X-Key': 'same' });
      const partitions = new Set((await stage.broker.records(topic)).map(({ partition }) => partition));
      equal(partitions.size > 1, isSpread);
    });
  }

  for (const producer of [
    { compression_codec: 'gzip' },
    { compression_codec: 'snappy' },
    { compression_codec: 'lz4' },
    { compression_codec: 'zstd' },
    { required_acks: 'wait_for_all' },
    { required_acks: 'no_response' },
    { idempotent: true },
  ]) {
    it(`writes records that other clients can read, with ${JSON.stringify(producer)}`, async () => {
      const topic = fresh('t');
      await start(writer(topic, { producer }));
      const payloads = Array.from({ length: 20 }, (_, at) => `${at}:${'x'.repeat(200)}`);
      const replies = await Promise.all(payloads.map((payload) => write(payload)));
      deepEqual(new Set(replies.map(({ statusCode }) => statusCode)), new Set([200]));
      await until(async () => (await stage.broker.records(topic)).length === 20);
      deepEqual((await stage.broker.records(topic)).map(({ value }) => value).sort(), payloads.sort());
    });
  }

  it('writes empty bodies and concurrent records exactly once', async () => {
    const topic = fresh('t');
    await start(writer(topic));
    const replies = await Promise.all(Array.from({ length: 300 }, (_, at) => write(at === 0 ? '' : `n${at}`)));
    ok(replies.every(({ statusCode }) => statusCode === 200));
    const values = (await stage.broker.records(topic)).map(({ value }) => value);
    deepEqual([values.length, new Set(values).size], [300, 300]);
  });

  for (const idempotent of [false, true])
    it(`writes the other records of a batch if the broker rejects one of them, ${idempotent ? 'with an idempotent producer' : 'without idempotence'}`, async () => {
      const topic = fresh('t');
      await start(writer(topic, { key_meta: 'X-Key', producer: { idempotent } }));
      await write('warm');
      const small = Array.from({ length: 60 }, (_, at) => write(`${at}`, at % 2 ? { 'X-Key': `${at}` } : {}));
      // The gateway accepts this message, but the broker rejects it.
      const large = write('x'.repeat(99_000));
      const more = Array.from({ length: 60 }, (_, at) => write(`m${at}`));
      const refused = await large;
      deepEqual([refused.statusCode, /TOO_LARGE/.test(refused.body)], [500, true]);
      for (const { statusCode } of await Promise.all([...small, ...more])) equal(statusCode, 200);
      const values = (await stage.broker.records(topic)).map(({ value }) => value);
      deepEqual([values.length, new Set(values).size], [121, 121]);
    });

  it('does not send an oversized record or a record for a topic that does not exist', async () => {
    const topic = fresh('t');
    await start(
      writer(topic, { producer: { max_message_bytes: 1000 } }),
      endpoint('/other', {
        'backend/pubsub/publisher/kafka': {
          writer: { topic: 'nosuchtopic', cluster: cluster(), producer: { retry_backoff: '1ms' } },
        },
      }),
    );
    const large = await write('x'.repeat(2000));
    deepEqual([large.statusCode, /larger than 1000/.test(large.body)], [500, true]);
    const other = await stage.gateway!.inject('/other');
    deepEqual([other.statusCode, /nosuchtopic/.test(other.body)], [500, true]);
    equal((await write('x')).statusCode, 200);
    equal((await stage.broker.records(topic)).length, 1);
    await until(() => lines('nosuchtopic').some((line) => line.includes('ERROR')));
  });
});
