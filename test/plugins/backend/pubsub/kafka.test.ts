import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { type KeyPair, makeCertificates } from '../../../support/certificates.ts';
import { until } from '../../../support/conditions.ts';
import { setEnvironment } from '../../../support/environment.ts';
import { rememberingSinks, startGateway } from '../../../support/gateway.ts';
import { BUILDING_MS, startKafka, type TestKafka, withoutKafka } from '../../../support/kafka.ts';

(withoutKafka ? describe.skip : describe)(
  `Kafka behind a backend${withoutKafka ? `: ${withoutKafka}` : ''}`,
  function () {
    this.timeout(BUILDING_MS);
    let broker: TestKafka;
    let gateway: Operations | undefined;
    let restore: () => void;
    let sinks: ReturnType<typeof rememberingSinks>;
    /** Names that no test has used. */
    let count = 0;
    const fresh = (name: string) => `${name}${count++}`;

    before(async () => {
      const topics = Array.from({ length: 40 }, (_, at) => `t${at}:3,one${at}:1`).join(',');
      broker = await startKafka(['-topics', topics]);
    });
    after(() => broker.close());
    beforeEach(() => {
      restore = setEnvironment({ KAFKA_BROKERS: broker.address });
      sinks = rememberingSinks();
    });
    afterEach(async () => {
      await gateway?.close();
      gateway = undefined;
      restore();
    });

    const lines = (text: string) => sinks.lines.filter((line) => line.includes(text));
    const start = async (...endpoints: object[]) => {
      gateway = await startGateway(
        {
          endpoints,
          extra_config: {
            router: { return_error_msg: true },
            'telemetry/logging': { level: 'DEBUG', stdout: true },
          },
        },
        { sinks },
      );
      return gateway;
    };
    const endpoint = (path: string, extra: object, more: object = {}, backend: object = {}) => ({
      endpoint: path,
      timeout: '10s',
      ...more,
      backend: [{ url_pattern: '/', extra_config: extra, ...backend }],
    });
    const kafka = { host: ['kafka://'], disable_host_sanitize: true };
    const cluster = () => ({ brokers: [broker.address], metadata_retry_backoff: '20ms' });
    const writer = (topic: string, more: object = {}, top: object = {}, around: object = {}) =>
      endpoint(
        '/write',
        { 'backend/pubsub/publisher/kafka': { writer: { topic, cluster: cluster(), ...more }, ...top } },
        { method: 'POST', input_headers: ['X-Key', 'X-A'], ...around },
      );
    const reader = (topic: string, more: object = {}, around: object = {}, backend: object = {}) =>
      endpoint(
        '/read',
        { 'backend/pubsub/subscriber/kafka': { reader: { topics: [topic], cluster: cluster(), ...more } } },
        around,
        backend,
      );
    const write = (payload: string | Buffer = '{"a":1}', headers: Record<string, string | string[]> = {}) =>
      gateway!.inject({ method: 'POST', url: '/write', headers, payload });
    const read = () => gateway!.inject('/read');
    /** Waits until the group has its place in the topic: what is written from now on is read, and nothing else. */
    const joined = async (topic: string) => {
      let written = 0;
      let isRead = false;
      const first = read().finally(() => {
        isRead = true;
      });
      while (!isRead) await broker.produce(topic, `{"ready":${++written}}`);
      for (let seen = (await first).json().ready; seen < written; ) seen = (await read()).json().ready;
    };

    it('case 6: publishes to kafka:// the body and the headers that reach the backend', async () => {
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
      const [record] = await broker.records(topic);
      deepEqual([record!.key, record!.value], ['k', 'x=1']);
      ok(record!.headers.includes('X-A=1'));
      ok(!record!.headers.some((header) => header.startsWith('X-Key')));
    });

    it('case 1: writes a record with the key of a header, and replies with the status that is wished for', async () => {
      const topic = fresh('t');
      await start(writer(topic, { key_meta: 'X-Key' }, { success_status_code: 201 }));
      const reply = await write('{"a":1}', { 'X-Key': 'k1', 'X-A': ['1', '2'] });
      deepEqual([reply.statusCode, reply.body, reply.headers['x-gateway-completed']], [201, '{}', 'false']);
      const [record] = await broker.records(topic);
      deepEqual([record!.key, record!.value], ['k1', '{"a":1}']);
      deepEqual(
        record!.headers.filter((header) => /^X-(?:A|Key)=/.test(header)),
        ['X-A=1', 'X-A=2'],
      );
    });

    it('case 2: writes a record without a key where the header is missing', async () => {
      const topic = fresh('t');
      await start(writer(topic, { key_meta: 'X-Key' }, { success_status_code: 201 }));
      equal((await write()).statusCode, 201);
      equal((await broker.records(topic))[0]!.key, null);
    });

    it('case 3: writes records with the same key to the same partition', async () => {
      const topic = fresh('t');
      await start(writer(topic, { key_meta: 'X-Key' }));
      for (const key of ['a', 'b', 'c', 'd', 'a', 'b', 'c', 'd']) await write('x', { 'X-Key': key });
      const places = new Map<string, Set<number>>();
      for (const { key, partition } of await broker.records(topic)) {
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
      it(`spreads records with one key ${isSpread ? 'all the same' : 'nowhere'} under the partitioner ${partitioner}`, async () => {
        const topic = fresh('t');
        await start(writer(topic, { key_meta: 'X-Key', producer: { partitioner } }));
        for (let at = 0; at < 20; at++) await write('x', { 'X-Key': 'same' });
        const partitions = new Set((await broker.records(topic)).map(({ partition }) => partition));
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
      it(`writes what other clients read with ${JSON.stringify(producer)}`, async () => {
        const topic = fresh('t');
        await start(writer(topic, { producer }));
        const payloads = Array.from({ length: 20 }, (_, at) => `${at}:${'x'.repeat(200)}`);
        const replies = await Promise.all(payloads.map((payload) => write(payload)));
        deepEqual(new Set(replies.map(({ statusCode }) => statusCode)), new Set([200]));
        await until(async () => (await broker.records(topic)).length === 20);
        deepEqual((await broker.records(topic)).map(({ value }) => value).sort(), payloads.sort());
      });
    }

    it('writes empty bodies, and many at once, each once', async () => {
      const topic = fresh('t');
      await start(writer(topic));
      const replies = await Promise.all(Array.from({ length: 300 }, (_, at) => write(at === 0 ? '' : `n${at}`)));
      ok(replies.every(({ statusCode }) => statusCode === 200));
      const values = (await broker.records(topic)).map(({ value }) => value);
      deepEqual([values.length, new Set(values).size], [300, 300]);
    });

    it('does not send a record that is too large, nor one whose topic there is not', async () => {
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
      const other = await gateway!.inject('/other');
      deepEqual([other.statusCode, /nosuchtopic/.test(other.body)], [500, true]);
      equal((await write('x')).statusCode, 200);
      equal((await broker.records(topic)).length, 1);
      await until(() => lines('nosuchtopic').some((line) => line.includes('ERROR')));
    });

    it('case 4: replies with a record that is written while it waits, once, also after a restart', async () => {
      const topic = fresh('one');
      const config = reader(
        topic,
        { group: { id: 'g1' }, key_meta: 'X-Order' },
        { output_encoding: 'json', timeout: '5s' },
      );
      await start(config);
      await joined(topic);
      const reply = read();
      await broker.produce(topic, '{"n":1}');
      deepEqual([(await reply).statusCode, (await reply).json()], [200, { n: 1 }]);
      await broker.produce(topic, '{"n":2}');
      deepEqual((await read()).json(), { n: 2 });
      await gateway!.close();
      await broker.produce(topic, '{"n":3}');
      await start(config);
      deepEqual((await read()).json(), { n: 3 });
    });

    it('shows the key of a record in a header of the response', async () => {
      const topic = fresh('one');
      await start(reader(topic, { group: { id: 'g2' }, key_meta: 'X-Order' }, { output_encoding: 'no-op' }));
      await joined(topic);
      await broker.produce(topic, 'k7:bytes', '-K', ':');
      const reply = await read();
      deepEqual([reply.body, reply.headers['x-order']], ['bytes', 'k7']);
    });

    it('case 5: fails for a record that cannot be decoded, and goes on with the next', async () => {
      const topic = fresh('one');
      await start(reader(topic, { group: { id: 'g3' } }));
      await joined(topic);
      await broker.produce(topic, 'oops');
      await broker.produce(topic, '{"n":2}');
      equal((await read()).statusCode, 500);
      deepEqual((await read()).json(), { n: 2 });
      equal(lines('cannot be decoded as json').length, 1);
    });

    it('reads kafka:// from the newest record, or from the oldest where that is wished for', async () => {
      const topic = fresh('one');
      await broker.produce(topic, '{"old":true}');
      const take = (path: string, url: string) =>
        endpoint(path, { 'backend/pubsub/subscriber': { subscription_url: url } }, {}, kafka);
      await start(take('/oldest', `old?topic=${topic}&offset=oldest`), take('/read', `new?topic=${topic}`));
      deepEqual((await gateway!.inject('/oldest')).json(), { old: true });
      await joined(topic);
      await broker.produce(topic, '{"new":true}');
      deepEqual((await read()).json(), { new: true });
    });

    it('case 6 of its own namespace: serves without a broker, fails, and comes back with it', async () => {
      const topic = fresh('one');
      await broker.stop();
      await start(
        writer(topic, { producer: { retry_max: 0 } }),
        reader(topic, { group: { id: 'g4' } }, { timeout: '3s' }),
      );
      equal((await gateway!.inject('/__health')).statusCode, 200);
      const failed = await write();
      deepEqual([failed.statusCode, /ECONNREFUSED/.test(failed.body)], [500, true]);
      equal((await read()).statusCode, 500);
      ok(lines('not connected').some((line) => line.includes('ERROR')));
      await broker.start();
      await until(async () => (await write()).statusCode === 200);
      await until(async () => {
        await write();
        return (await read()).statusCode === 200;
      });
    });

    it('writes again after the broker was lost, and reads on where it was', async () => {
      const topic = fresh('one');
      await start(
        writer(topic, { producer: { retry_max: 0 } }),
        reader(topic, { group: { id: 'g5' } }, { timeout: '20s' }),
      );
      await joined(topic);
      await write('{"n":1}');
      deepEqual((await read()).json(), { n: 1 });
      await broker.stop();
      equal((await write('{"n":"lost"}')).statusCode, 500);
      await broker.start();
      await until(async () => (await write('{"n":2}')).statusCode === 200);
      deepEqual((await read()).json(), { n: 2 });
    });

    it('keeps its clients, and what it has read ahead, over reloads', async () => {
      const topic = fresh('one');
      const config = (path: string) => ({
        version: 3,
        endpoints: [
          reader(topic, { group: { id: 'g6' } }),
          { endpoint: path, backend: [{ host: ['http://a'], url_pattern: '/' }] },
        ],
      });
      gateway = await startGateway(config('/a'), { sinks });
      await joined(topic);
      await broker.produce(topic, '{"n":1}\n{"n":2}\n{"n":3}');
      deepEqual((await read()).json(), { n: 1 });
      await gateway.reload(config('/b'));
      deepEqual((await read()).json(), { n: 2 });
      await gateway.reload(config('/c'));
      deepEqual((await read()).json(), { n: 3 });
    });

    it('reads no more than its buffer takes until requests come', async () => {
      const topic = fresh('one');
      const records = Array.from({ length: 200 }, (_, n) => `{"n":${n}}`);
      await start(reader(topic, { cluster: { ...cluster(), channel_buffer_size: 5 }, group: { id: 'g8' } }));
      await joined(topic);
      await broker.produce(topic, records.join('\n'));
      const numbers: number[] = [];
      for (const _record of records) numbers.push((await read()).json().n);
      deepEqual(
        numbers,
        records.map((_record, n) => n),
      );
    });

    it('fails at its deadline where the broker does not respond', async () => {
      const topic = fresh('t');
      await start(writer(topic, {}, {}, { timeout: '500ms' }));
      await until(async () => (await write()).statusCode === 200);
      broker.pause();
      try {
        equal((await write()).statusCode, 500);
      } finally {
        broker.resume();
      }
      await until(async () => (await write()).statusCode === 200);
    });

    it('gives the members of a group different partitions', async () => {
      const topic = fresh('t');
      const group = { id: 'g7', session_timeout: '6s', heartbeat_interval: '100ms' };
      await start(reader(topic, { group }, { timeout: '500ms' }));
      const first = gateway!;
      await start(reader(topic, { group }, { timeout: '500ms' }));
      const second = gateway!;
      try {
        const seen = { first: new Set<number>(), second: new Set<number>() };
        await until(async () => {
          for (const partition of [0, 1, 2])
            await broker.produce(topic, `{"partition":${partition}}`, '-p', String(partition));
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

    describe('with TLS and users', () => {
      const certificates = makeCertificates();
      let guarded: TestKafka;
      let authority: KeyPair;
      let client: KeyPair;

      before(async () => {
        authority = certificates.authority('authority');
        const server = certificates.issue('server', authority);
        client = certificates.issue('client', authority);
        const users = ['PLAIN:ada:s3cret', 'SCRAM-SHA-256:bob:s3cret', 'SCRAM-SHA-512:eve:s3cret'].join(',');
        const tls = [
          '-certificate',
          server.certificate,
          '-key',
          server.privateKey,
          '-client-authority',
          authority.certificate,
        ];
        guarded = await startKafka(['-topics', 'orders:1', '-users', users, ...tls]);
      });
      after(async () => {
        await guarded.close();
        certificates.remove();
      });

      const tls = () => ({
        ca_certs: [authority.certificate],
        client_certs: [{ certificate: client.certificate, private_key: client.privateKey }],
      });
      const startAs = (sasl: object | undefined, client_tls: object | undefined = tls(), brokers = [guarded.address]) =>
        start(
          writer('orders', {
            cluster: {
              brokers,
              dial_timeout: '2s',
              metadata_retry_max: 0,
              ...(client_tls && { client_tls }),
              ...(sasl && { sasl }),
            },
            producer: { retry_max: 0 },
          }),
        );

      for (const [mechanism, user] of [
        ['PLAIN', 'ada'],
        ['SCRAM-SHA-256', 'bob'],
        ['SCRAM-SHA-512', 'eve'],
      ] as const) {
        it(`writes over TLS with a certificate of its own, as a user with ${mechanism}`, async () => {
          await startAs({ mechanism, user, password: 's3cret' });
          const reply = await write();
          deepEqual([reply.statusCode, reply.body], [200, '{}']);
        });

        it(`says that the password is wrong, and not what it is, with ${mechanism}`, async () => {
          await startAs({ mechanism, user, password: 'wr0ng' });
          const reply = await write();
          equal(reply.statusCode, 500);
          match(reply.body, /refuses the user name or the password/);
          await until(() => lines('refuses the user name or the password').some((line) => line.includes('ERROR')));
          deepEqual(lines('wr0ng'), []);
        });
      }

      it('says that a mechanism is not known', async () => {
        await startAs({ mechanism: 'OAUTHBEARER', password: 'token' });
        match((await write()).body, /does not know this SASL mechanism/);
      });

      it('writes to a broker by its name', async () => {
        await startAs({ user: 'ada', password: 's3cret' }, tls(), [`localhost:${guarded.port}`]);
        equal((await write()).statusCode, 200);
      });

      it('says what may be missing where the broker closes the connection', async () => {
        await startAs(undefined, tls());
        match((await write()).body, /may demand TLS or SASL/);
      });

      it('does not speak to a broker that it does not trust', async () => {
        await startAs({ user: 'ada', password: 's3cret' }, {});
        const reply = await write();
        equal(reply.statusCode, 500);
        match(reply.body, /certificate/);
        notEqual(reply.body, '');
      });
    });
  },
);
