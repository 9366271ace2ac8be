// Measures messages a second and µs of CPU per message, through the components and with the bare client library: `node
// scripts/bench/messages.ts [nats] [kafka] [amqp] [sqs]`. Uses the brokers of the tests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { Consumer, Producer } from '@platformatic/kafka';
import { Reply } from '../../kernel/contract/index.ts';
import { openHarness } from '../../kernel/testing/index.ts';
import { plugin as amqpAgent } from '../../plugins/async/amqp.ts';
import { plugin as amqpConsumer } from '../../plugins/backend/amqp/consumer.ts';
import { plugin as amqpProducer } from '../../plugins/backend/amqp/producer.ts';
import { plugin as publisherPlugin } from '../../plugins/backend/pubsub/publisher/index.ts';
import { plugin as kafkaPublisher } from '../../plugins/backend/pubsub/publisher/kafka.ts';
import { plugin as subscriberPlugin } from '../../plugins/backend/pubsub/subscriber/index.ts';
import { plugin as kafkaSubscriber } from '../../plugins/backend/pubsub/subscriber/kafka.ts';
import { plugin as json } from '../../plugins/encoding/json.ts';
import { freePort, until } from '../../test/support/conditions.ts';
import { startGateway } from '../../test/support/gateway.ts';
import { startKafka } from '../../test/support/kafka.ts';
import { startNats } from '../../test/support/nats.ts';
import { startRabbit } from '../../test/support/rabbitmq.ts';

/** Concurrent requests. */
const LANES = 50;
const COUNT = 20_000;
const body = JSON.stringify({ id: 7, text: 'x'.repeat(80) });

/** Runs an action repeatedly, with several in parallel, and prints the cost per message. */
async function measure(
  name: string,
  once: () => Promise<unknown>,
  count = COUNT,
  messages = 1,
  width = LANES,
): Promise<void> {
  const lanes = (total: number) =>
    Promise.all(
      Array.from({ length: width }, async () => {
        for (let at = 0; at < total / width; at++) await once();
      }),
    );
  await lanes(count / 10);
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await lanes(count);
  const { user, system } = process.cpuUsage(before);
  const rate = Math.round((count * messages) / ((performance.now() - startedAt) / 1000));
  const cost = ((user + system) / (count * messages)).toFixed(1);
  console.log(`${name.padEnd(44)}${String(rate).padStart(8)} a second${cost.padStart(9)} µs each`);
}

async function benchNats(): Promise<void> {
  const server = await startNats();
  process.env['NATS_SERVER_URL'] = server.address;
  const around = { backend: { host: ['nats://'] }, plugins: [json] };
  const client = await server.connect();
  const bytes = Buffer.from(body);
  const publish = async () => {
    client.publish('bench', bytes);
    await client.flush();
  };
  await measure('NATS, bare: publish and flush', publish);
  const publisher = await openHarness(publisherPlugin, 'backend', { topic_url: 'bench' }, around);
  await measure('NATS, backend/pubsub/publisher', () => publisher.send({ method: 'POST', body }));
  const subscriber = await openHarness(subscriberPlugin, 'backend', { subscription_url: 'bench' }, around);
  // Sends one message per request, so that none is dropped.
  await measure('NATS, bare publish and backend/pubsub/subscriber', async () => {
    const reply = subscriber.send('GET /');
    await publish();
    await reply;
  });
  for (const gate of [publisher, subscriber]) await gate.close();
  await server.close();
}

async function benchKafka(): Promise<void> {
  const broker = await startKafka(['-topics', 'bare:3,bench:3']);
  const cluster = { brokers: [broker.address] };
  const producer = new Producer({ clientId: 'bench', bootstrapBrokers: [broker.address], retries: 0 });
  const value = Buffer.from(body);
  const one = () => producer.send({ messages: [{ topic: 'bare', value }], acks: 1 });
  await measure('Kafka, bare: a request for each record', one, COUNT / 4);
  const many = Array.from({ length: LANES }, () => ({ topic: 'bare', value }));
  const together = () => producer.send({ messages: many, acks: 1 });
  await measure(`Kafka, bare: a request for ${LANES} records`, together, COUNT / LANES, LANES);
  const publisher = await openHarness(kafkaPublisher, 'backend', { writer: { topic: 'bench', cluster } });
  await measure('Kafka, backend/pubsub/publisher/kafka', () => publisher.send({ method: 'POST', body }));
  const consumer = new Consumer({ clientId: 'bench', groupId: 'bare', bootstrapBrokers: [broker.address] });
  const stream = await consumer.consume({ topics: ['bench'], mode: 'earliest', autocommit: true });
  const records = stream[Symbol.asyncIterator]();
  await measure('Kafka, bare: read', () => records.next());
  await consumer.close(true);
  const reader = { topics: ['bench'], cluster, group: { id: 'bench' } };
  const subscriber = await openHarness(kafkaSubscriber, 'backend', { reader }, { plugins: [json] });
  // The records are written while the group reads, because a new group starts at the newest record.
  await subscriber.send('GET /');
  await measure('Kafka, both components: write and read', async () => {
    const reply = subscriber.send('GET /');
    await publisher.send({ method: 'POST', body });
    await reply;
  });
  for (const gate of [publisher, subscriber]) await gate.close();
  await producer.close();
  await broker.close();
}

async function benchAmqp(): Promise<void> {
  const server = await startRabbit();
  const connection = await server.connect();
  const channel = await connection.createConfirmChannel();
  await channel.assertExchange('bench', 'topic', { durable: false });
  const bytes = Buffer.from(body);
  const publish = (key: string) =>
    new Promise<void>((resolve, reject) => {
      channel.publish('bench', key, bytes, {}, (error) => (error ? reject(error) : resolve()));
    });
  await measure('AMQP, bare: publish and confirm', () => publish('none'));
  const around = { backend: { host: [server.url], url_pattern: '/' }, plugins: [json] };
  const names = { name: 'bench', exchange: 'bench' };
  const producing = { ...names, routing_key: 'none', static_routing_key: true };
  const producer = await openHarness(amqpProducer, 'backend', producing, around);
  await measure('AMQP, backend/amqp/producer', () => producer.send({ method: 'POST', body }));

  let consumed = 0;
  let awaited = { until: -1, resolve: () => {} };
  /** Publishes a number of messages in parallel, and resolves when they are consumed. */
  const consumedAll = async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    awaited = { until: consumed + LANES, resolve };
    for (let at = 0; at < LANES; at++) channel.publish('bench', 'agent', bytes);
    await promise;
  };
  const count = () => {
    if (++consumed === awaited.until) awaited.resolve();
  };
  const measureConsumed = (name: string) => measure(name, consumedAll, COUNT / LANES, LANES, 1);
  await channel.assertQueue('bare');
  await channel.bindQueue('bare', 'bench', 'agent');
  const { consumerTag } = await channel.consume('bare', (message) => {
    count();
    channel.ack(message!);
  });
  await measureConsumed('AMQP, bare: publish, consume and acknowledge');
  await channel.cancel(consumerTag);
  await channel.deleteQueue('bare');
  const atFirst = consumed;
  const agent = await openHarness(
    amqpAgent,
    'agent',
    { ...names, host: server.url, prefetch_count: LANES },
    {
      agent: { consumer: { topic: 'agent', workers: LANES, max_rate: 0 } },
      next: () => {
        count();
        return Reply.data({});
      },
    },
  );
  // The consumer connects after a second; messages that are published earlier are not routed.
  while (consumed === atFirst) {
    await publish('agent');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await measureConsumed('AMQP, bare publish and async/amqp');
  await agent.close();

  const consuming = { ...names, name: 'replies', routing_key: ['reply'] };
  const consumer = await openHarness(amqpConsumer, 'backend', consuming, around);
  await measure('AMQP, bare publish and backend/amqp/consumer', async () => {
    const reply = consumer.send('GET /');
    await publish('reply');
    await reply;
  });
  for (const gate of [producer, consumer]) await gate.close();
  await server.close();
}

async function benchSqs(): Promise<void> {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  // The backend runs in a separate process, whose CPU time is not counted.
  const env = { ...process.env, FAUXQS_PORT: String(port), FAUXQS_LOGGER: 'false' };
  const server = spawn(process.execPath, ['node_modules/fauxqs/dist/server.js'], { env, stdio: 'ignore' });
  await until(() =>
    fetch(endpoint).then(
      () => true,
      () => false,
    ),
  );
  const account = {
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 's3cret',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  Object.assign(process.env, account);
  const client = new SQSClient({ region: 'us-east-1', endpoint });
  const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: 'bench' }));
  const send = () => client.send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
  await measure('SQS, bare: send', send, COUNT / 10);
  const { host, pathname } = new URL(QueueUrl);
  const place = `${host}${pathname}?region=us-east-1&endpoint=${endpoint}`;
  // The in-process harness does not support backends over HTTP, so SQS and SNS are measured through a complete gateway.
  const endpointOf = (path: string, method: string, extra_config: object) => ({
    endpoint: path,
    method,
    timeout: '5s',
    backend: [{ host: ['awssqs://'], disable_host_sanitize: true, url_pattern: '/', extra_config }],
  });
  const gateway = await startGateway({
    endpoints: [
      endpointOf('/send', 'POST', { 'backend/pubsub/publisher': { topic_url: place } }),
      endpointOf('/take', 'GET', { 'backend/pubsub/subscriber': { subscription_url: place } }),
    ],
  });
  const ask = async (method: 'GET' | 'POST', url: string, payload?: string) => {
    const { statusCode } = await gateway.inject({ method, url, ...(payload && { payload }) });
    if (statusCode !== 200) throw new Error(`${method} ${url}: ${statusCode}`);
  };
  await measure('SQS, gateway with backend/pubsub/publisher', () => ask('POST', '/send', body), COUNT / 10);
  const receive = async () => {
    const { Messages: [message] = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl }));
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message!.ReceiptHandle }));
  };
  await measure('SQS, bare: receive and delete', receive, COUNT / 10);
  await measure('SQS, gateway with backend/pubsub/subscriber', () => ask('GET', '/take'), COUNT / 10);
  await gateway.close();
  client.destroy();
  const ended = once(server, 'exit');
  server.kill();
  await ended;
}

const benches = { nats: benchNats, kafka: benchKafka, amqp: benchAmqp, sqs: benchSqs };
const wanted = process.argv.slice(2);
for (const [name, bench] of Object.entries(benches)) if (wanted.length === 0 || wanted.includes(name)) await bench();
