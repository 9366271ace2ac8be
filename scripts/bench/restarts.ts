// Tests message delivery while the gateway is reloaded and the broker restarted under traffic: `node
// scripts/bench/restarts.ts [nats] [kafka] [amqp] [agent-nats] [agent-kafka] [agent-amqp] [--reloads 100] [--restarts
// 10]`. Uses the brokers of the tests; for an agent, messages that its backend received count as arrived.
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { silentSinks } from '../../kernel/testing/index.ts';
import { startBackend, startGateway } from '../../test/support/gateway.ts';
import { startKafka } from '../../test/support/kafka.ts';
import { startNats } from '../../test/support/nats.ts';
import { startRabbit } from '../../test/support/rabbitmq.ts';

const { values, positionals } = parseArgs({
  options: { reloads: { type: 'string', default: '100' }, restarts: { type: 'string', default: '10' } },
  allowPositionals: true,
});

type Fields = Readonly<Record<string, unknown>>;

interface Broker {
  /** Configuration of a backend that publishes. */
  readonly write: Fields;
  /** Configuration of a backend that receives a message; or the driver of an agent, with its topic. */
  readonly read: Fields;
  readonly agent: { readonly topic: string; readonly driver: Fields };
  readonly around: Fields;
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

async function nats(): Promise<Broker> {
  const server = await startNats();
  process.env['NATS_SERVER_URL'] = server.address;
  return {
    ...server,
    around: { host: ['nats://'], disable_host_sanitize: true },
    write: { 'backend/pubsub/publisher': { topic_url: 'messages' } },
    read: { 'backend/pubsub/subscriber': { subscription_url: 'messages' } },
    agent: { topic: 'messages', driver: { 'async/nats': { host: server.address } } },
  };
}

async function kafka(): Promise<Broker> {
  const broker = await startKafka(['-topics', 'messages:3']);
  const cluster = { brokers: [broker.address], metadata_retry_backoff: '50ms' };
  return {
    ...broker,
    around: {},
    write: { 'backend/pubsub/publisher/kafka': { writer: { topic: 'messages', cluster, producer: { retry_max: 0 } } } },
    read: { 'backend/pubsub/subscriber/kafka': { reader: { topics: ['messages'], cluster, group: { id: 'g' } } } },
    agent: { topic: 'messages', driver: { 'async/kafka': { cluster, group: { id: 'g' } } } },
  };
}

async function amqp(): Promise<Broker> {
  const rabbit = await startRabbit();
  const queue = { name: 'messages', exchange: 'messages', durable: true, backoff_strategy: 'linear' };
  const { backoff_strategy: _, ...consumed } = queue;
  const published = { routing_key: 'k', static_routing_key: true, persistent: true, mandatory: true };
  return {
    ...rabbit,
    around: { host: [rabbit.url], disable_host_sanitize: true },
    write: { 'backend/amqp/producer': { ...queue, ...published } },
    read: { 'backend/amqp/consumer': { ...queue, routing_key: ['#'] } },
    agent: { topic: '#', driver: { 'async/amqp': { ...consumed, host: rabbit.url } } },
  };
}

async function run(name: string, broker: Broker, reloads: number, restarts: number, byAgent: boolean): Promise<void> {
  const received = new Map<number, number>();
  let lastAt = performance.now();
  let isReady = false;
  const arrived = (id: number) => {
    lastAt = performance.now();
    if (id < 0) isReady = true;
    else received.set(id, (received.get(id) ?? 0) + 1);
  };
  const backend = await startBackend(({ body }, response) => {
    arrived(JSON.parse(String(body)).id);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  const agent = {
    name: 'messages',
    consumer: { topic: broker.agent.topic, workers: 4, timeout: '2s' },
    backend: [{ host: [backend.url], url_pattern: '/', method: 'POST' }],
    extra_config: broker.agent.driver,
  };
  const config = (round: number) => ({
    version: 3,
    endpoints: [
      {
        endpoint: '/write',
        method: 'POST',
        timeout: '2s',
        backend: [{ url_pattern: '/', extra_config: broker.write, ...broker.around }],
      },
      ...(byAgent
        ? []
        : [
            {
              endpoint: '/read',
              timeout: '2s',
              backend: [{ url_pattern: '/', extra_config: broker.read, ...broker.around }],
            },
          ]),
      { endpoint: `/round/${round}`, backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }] },
    ],
    async_agent: byAgent ? [agent] : [],
  });
  const gateway = await startGateway(config(0), { sinks: silentSinks });
  const published = new Set<number>();
  let refused = 0;
  let isWriting = true;
  let isReading = true;
  let next = 0;
  const write = async () => {
    while (isWriting) {
      const id = next++;
      const { statusCode } = await gateway.inject({ method: 'POST', url: '/write', payload: `{"id":${id}}` });
      if (statusCode === 200) published.add(id);
      else refused++;
      await delay(2);
    }
  };
  const read = async () => {
    while (isReading) {
      const { statusCode, body } = await gateway.inject('/read');
      if (statusCode !== 200) {
        await delay(5);
        continue;
      }
      arrived(JSON.parse(body).id);
    }
  };
  const readers = byAgent ? [] : [read(), read(), read(), read()];
  // Messages published before a consumer is connected are lost.
  while (!isReady) {
    await gateway.inject({ method: 'POST', url: '/write', payload: '{"id":-1}' });
    await delay(20);
  }
  const writers = [write(), write(), write(), write()];
  let reloaded = 0;
  for (let round = 1; round <= Math.max(restarts, 1); round++) {
    for (; reloaded < (reloads * round) / Math.max(restarts, 1); reloaded++) {
      await gateway.reload(config(reloaded + 1));
      await delay(10);
    }
    if (restarts === 0) continue;
    await broker.stop();
    await delay(200);
    await broker.start();
    await delay(2500);
  }
  isWriting = false;
  await Promise.all(writers);
  while (performance.now() - lastAt < 4000) await delay(100);
  isReading = false;
  await Promise.all(readers);
  await gateway.close();
  await backend.close();
  await broker.close();
  const lost = [...published].filter((id) => !received.has(id)).length;
  const doubled = [...received.values()].filter((count) => count > 1).length;
  const unsure = [...received.keys()].filter((id) => !published.has(id)).length;
  console.log(
    `${name}: ${reloads} reloads, ${restarts} restarts: published ${published.size}, refused ${refused} (${unsure} of them arrived), received ${received.size}, lost ${lost}, doubled ${doubled}`,
  );
}

const brokers = { nats, kafka, amqp };
for (const [name, open] of Object.entries(brokers)) {
  for (const byAgent of [false, true]) {
    const title = byAgent ? `agent-${name}` : name;
    if (positionals.length > 0 && !positionals.includes(title)) continue;
    await run(title, await open(), Number(values.reloads), 0, byAgent);
    await run(title, await open(), Number(values.reloads), Number(values.restarts), byAgent);
  }
}
