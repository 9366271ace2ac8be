import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Operations } from '#kernel';
import type { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { until } from '../../support/conditions.ts';
import { INSTALLATION_MS } from '../../support/debian.ts';
import { rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { BUILDING_MS, startKafka, type TestKafka, withoutKafka } from '../../support/kafka.ts';
import { isHeard, startNats, type TestNats, withoutNats } from '../../support/nats.ts';

/** State of the running test. */
interface Testbed {
  readonly backend: TestBackend;
  readonly lines: () => readonly string[];
  readonly bodies: () => readonly string[];
  status: number;
  /** Responses are delayed until this promise resolves. */
  held: Promise<void>;
  start(...agents: object[]): Promise<Operations>;
  restart(...agents: object[]): Promise<void>;
  close(): Promise<void>;
}

async function openTestbed(): Promise<Testbed> {
  let gateway: Operations | undefined;
  const sinks = rememberingSinks();
  const backend = await startBackend(async (_seen, response) => {
    await testbed.held;
    response.writeHead(testbed.status, { 'Content-Type': 'application/json' }).end('{"done":true}');
  });
  const configOf = (agents: object[]) => ({ version: 3, host: [backend.url], async_agent: agents });
  const testbed: Testbed = {
    backend,
    status: 200,
    held: Promise.resolve(),
    lines: () => sinks.lines,
    bodies: () => backend.requests.map(({ body }) => String(body)),
    async start(...agents) {
      gateway = await startGateway(configOf(agents), { sinks });
      return gateway;
    },
    async restart(...agents) {
      await gateway!.close();
      await testbed.start(...agents);
    },
    async close() {
      await gateway?.close();
      await backend.close();
    },
  };
  return testbed;
}

const agentOf = (driver: object, consumer: object, more: object = {}) => ({
  name: 'orders',
  consumer: { timeout: '10s', ...consumer },
  backend: [{ url_pattern: '/hook', method: 'POST' }],
  extra_config: driver,
  ...more,
});

async function refusalOf(start: Promise<unknown>): Promise<readonly string[]> {
  return start.then(
    () => [],
    (error: ConfigErrors) => error.errors.map(({ code, pointer }) => `${code} ${pointer}`),
  );
}

(withoutKafka ? describe.skip : describe)(`an agent of Kafka${withoutKafka ? `: ${withoutKafka}` : ''}`, function () {
  this.timeout(BUILDING_MS);
  let broker: TestKafka;
  let testbed: Testbed;
  let count = 0;

  before(async () => {
    broker = await startKafka(['-topics', Array.from({ length: 10 }, (_, at) => `a${at}:1,b${at}:3`).join(',')]);
  });
  after(() => broker.close());
  beforeEach(async () => {
    testbed = await openTestbed();
  });
  afterEach(() => testbed.close());

  const fresh = (name: string) => `${name}${count++}`;
  const agent = (topic: string, more: object = {}, consumer: object = {}, around: object = {}) => {
    const cluster = { brokers: [broker.address], metadata_retry_backoff: '20ms' };
    const group = { id: topic, session_timeout: '6s', heartbeat_interval: '500ms' };
    return agentOf({ 'async/kafka': { cluster, group, ...more } }, { topic, ...consumer }, around);
  };
  /** Waits until the group has joined the topic. */
  const joined = async (topic: string) => {
    let written = 0;
    while (testbed.bodies().length === 0) await broker.produce(topic, `ready${++written}`);
    await until(() => testbed.bodies().includes(`ready${written}`));
    (testbed.backend.requests as unknown[]).length = 0;
  };

  it("sends each Kafka record to its backend with the record's headers and key", async () => {
    const topic = fresh('a');
    await testbed.start(agent(topic, { key_meta: 'X-Order' }));
    await joined(topic);
    await broker.produce(topic, 'k7:{"n":1}', '-K', ':', '-H', 'X-A=1', '-H', 'Host=evil', '-H', 'X-Order=forged');
    await until(() => testbed.bodies().length === 1);
    const [{ method, target, headers, body }] = testbed.backend.requests as [(typeof testbed.backend.requests)[0]];
    deepEqual([method, target, String(body)], ['POST', '/hook', '{"n":1}']);
    deepEqual([headers['x-a'], headers['x-order'], headers.host], ['1', 'k7', testbed.backend.host]);
  });

  it('commits a record once its pipeline has run, whether it succeeded or failed', async () => {
    const topic = fresh('a');
    await testbed.start(agent(topic));
    await joined(topic);
    testbed.status = 500;
    await broker.produce(topic, 'one');
    await until(() => testbed.lines().some((line) => line.includes('invalid status code 500')));
    testbed.status = 200;
    await testbed.restart(agent(topic));
    await broker.produce(topic, 'two');
    await until(() => testbed.bodies().includes('two'));
    deepEqual(testbed.bodies(), ['one', 'two']);
  });

  it('skips unreadable records with one log line', async () => {
    const topic = fresh('a');
    await testbed.start(agent(topic));
    await joined(topic);
    await broker.produceBytes(topic, Buffer.alloc(40, 0xff));
    await broker.produce(topic, 'one');
    await broker.produceBytes(topic, Buffer.alloc(40, 0xff), 'gzip');
    await broker.produce(topic, 'two');
    await until(() => testbed.bodies().length === 2);
    await testbed.restart(agent(topic));
    await broker.produce(topic, 'three');
    await until(() => testbed.bodies().length === 3);
    deepEqual(testbed.bodies(), ['one', 'two', 'three']);
    equal(testbed.lines().filter((line) => line.includes('cannot be read and are discarded')).length, 2);
  });

  it('processes as many records in parallel as it has workers', async () => {
    const topic = fresh('b');
    await testbed.start(agent(topic, {}, { workers: 3 }));
    await joined(topic);
    const { promise, resolve } = Promise.withResolvers<void>();
    testbed.held = promise;
    await broker.produce(topic, 'a\nb\nc\nd\ne');
    await until(() => testbed.bodies().length === 3);
    resolve();
    await until(() => testbed.bodies().length === 5);
    deepEqual([...testbed.bodies()].sort(), ['a', 'b', 'c', 'd', 'e']);
  });

  it('resumes at its offset after a broker restart, with no record lost or processed twice', async () => {
    const topic = fresh('a');
    await testbed.start(agent(topic));
    await joined(topic);
    for (let round = 0; round < 3; round++) {
      await broker.produce(topic, `before${round}`);
      await until(() => testbed.bodies().includes(`before${round}`));
      await broker.stop();
      await broker.start();
      await broker.produce(topic, `after${round}`);
      await until(() => testbed.bodies().includes(`after${round}`));
    }
    deepEqual(testbed.bodies(), ['before0', 'after0', 'before1', 'after1', 'before2', 'after2']);
  });

  it('keeps running across a reload that does not change it', async () => {
    const topic = fresh('a');
    const gateway = await testbed.start(agent(topic));
    await joined(topic);
    const endpoint = { endpoint: '/x', backend: [{ url_pattern: '/' }] };
    for (let round = 0; round < 20; round++) {
      await broker.produce(topic, `n${round}`);
      await gateway.reload({
        version: 3,
        host: [testbed.backend.url],
        async_agent: [agent(topic)],
        endpoints: [{ ...endpoint, endpoint: `/x${round}` }],
      });
    }
    await until(() => testbed.bodies().length === 20);
    deepEqual(
      testbed.bodies(),
      Array.from({ length: 20 }, (_, round) => `n${round}`),
    );
    equal(testbed.lines().filter((line) => line.includes('Starting the consumer')).length, 1);
  });

  it('starts without a broker, logs an error, and reports no health until it is connected', async () => {
    const topic = fresh('a');
    await broker.stop();
    const gateway = await testbed.start(agent(topic));
    await until(() => testbed.lines().some((line) => line.includes('ERROR') && line.includes('ECONNREFUSED')));
    equal((await gateway.inject('/__health')).json().agents.orders, null);
    await broker.start();
    await joined(topic);
    match((await gateway.inject('/__health')).json().agents.orders, /^\d{4}-/);
  });

  it('is rejected if it has an invalid topic or group', async () => {
    deepEqual(await refusalOf(testbed.start(agent('a b'))), ['KAFKA_TOPIC /async_agent/0/extra_config/async~1kafka']);
    const group = { heartbeat_interval: '1m' };
    deepEqual(await refusalOf(testbed.start(agent('a', { group }))), [
      'KAFKA_GROUP /async_agent/0/extra_config/async~1kafka/group/heartbeat_interval',
    ]);
    deepEqual(await refusalOf(testbed.start(agentOf({ 'async/kafka': {} }, { topic: 'a' }))), [
      'SCHEMA_REQUIRED /async_agent/0/extra_config/async~1kafka',
    ]);
  });
});

(withoutNats ? describe.skip : describe)(`an agent of NATS${withoutNats ? `: ${withoutNats}` : ''}`, function () {
  this.timeout(INSTALLATION_MS);
  let server: TestNats;
  let client: NatsConnection;
  let testbed: Testbed;

  before(async () => {
    server = await startNats();
    client = await server.connect();
  });
  after(() => server.close());
  beforeEach(async () => {
    testbed = await openTestbed();
  });
  afterEach(() => testbed.close());

  const agent = (topic: string, more: object = {}, consumer: object = {}) =>
    agentOf({ 'async/nats': { host: server.address, ...more } }, { topic, ...consumer });
  const joined = async (subject: string) => {
    await until(() => isHeard(client, subject, 'ready'));
    await until(() => testbed.bodies().includes('ready'));
    (testbed.backend.requests as unknown[]).length = 0;
  };

  it('sends each message of its subjects to its backend, with its headers', async () => {
    await testbed.start(agent('orders.*'));
    await joined('orders.new');
    const { headers } = await import('@nats-io/transport-node');
    const all = headers();
    all.append('X-A', '1');
    all.append('X-A', '2');
    all.append('Content-Length', '7');
    client.publish('orders.paid', '{"n":1}', { headers: all });
    client.publish('other', 'no');
    await until(() => testbed.bodies().length === 1);
    const [{ headers: seen, body }] = testbed.backend.requests as [(typeof testbed.backend.requests)[0]];
    deepEqual([String(body), seen['x-a'], seen['content-length']], ['{"n":1}', '1, 2', '7']);
  });

  it('logs a failed message, which is not redelivered', async () => {
    await testbed.start(agent('failing'));
    await joined('failing');
    testbed.status = 500;
    client.publish('failing', 'x');
    await until(() => testbed.lines().some((line) => line.includes('invalid status code 500')));
    equal(testbed.bodies().length, 1);
  });

  it('drops oversized messages with a log line', async () => {
    await testbed.start(agent('many', { buffer_size: 2 }));
    await joined('many');
    const { promise, resolve } = Promise.withResolvers<void>();
    testbed.held = promise;
    for (const text of ['a', 'b', 'c']) client.publish('many', text);
    await until(() => testbed.lines().some((line) => line.includes('messages dropped')));
    resolve();
    await until(() => testbed.bodies().length === 2);
    deepEqual(testbed.bodies(), ['a', 'b']);
  });

  it('buffers at most 64 MiB of messages', async () => {
    await testbed.start(agent('large'));
    await joined('large');
    const { promise, resolve } = Promise.withResolvers<void>();
    testbed.held = promise;
    const payload = Buffer.alloc(1_000_000, 'x');
    const buffered = Math.ceil((64 * 1024 * 1024) / payload.length);
    // Waits until the tenth message was dropped: it is the last one, so that no message arrives once the buffer has
    // space again.
    for (let n = 0; n < buffered + 10; n++) {
      client.publish('large', payload);
      await client.flush();
    }
    await until(() => testbed.lines().some((line) => line.includes('10 messages dropped')));
    resolve();
    await until(() => testbed.bodies().length === buffered);
  });

  it('shares the messages of a queue group with other consumers', async () => {
    await testbed.start(agent('work', { queue: 'g' }));
    await joined('work');
    let others = 0;
    client.subscribe('work', { queue: 'g', callback: () => void others++ });
    await client.flush();
    for (let at = 0; at < 100; at++) client.publish('work', String(at));
    await until(() => others + testbed.bodies().length === 100);
    ok(others > 0 && others < 100);
  });

  it('resumes consuming after a server restart', async () => {
    await testbed.start(agent('again'));
    await joined('again');
    await server.stop();
    await until(() => testbed.lines().some((line) => line.includes('Consumer stopped')));
    await server.start();
    // Waits for the test's client, because messages that it sends before it reconnects would arrive before the agent
    // subscribes.
    await until(() =>
      client.flush().then(
        () => true,
        () => false,
      ),
    );
    await joined('again');
    client.publish('again', 'x');
    await until(() => testbed.bodies().includes('x'));
  });

  it('is rejected if it has an invalid address or subject', async () => {
    const at = '/async_agent/0/extra_config/async~1nats';
    deepEqual(await refusalOf(testbed.start(agent('a', { host: 'http://a b' }))), [`NATS_ADDRESS ${at}/host`]);
    deepEqual(await refusalOf(testbed.start(agent('a..b'))), [`NATS_SUBJECT ${at}`]);
  });
});
