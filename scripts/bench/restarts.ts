// What becomes of messages while the gateway is reloaded and the broker restarted under traffic:
// `node scripts/bench/restarts.ts [nats] [kafka] [--reloads 100] [--restarts 10]`. The brokers are those of the tests.
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { silentSinks } from '../../kernel/testing/index.ts';
import { startGateway } from '../../test/support/gateway.ts';
import { startKafka } from '../../test/support/kafka.ts';
import { startNats } from '../../test/support/nats.ts';

const { values, positionals } = parseArgs({
  options: { reloads: { type: 'string', default: '100' }, restarts: { type: 'string', default: '10' } },
  allowPositionals: true,
});

type Fields = Readonly<Record<string, unknown>>;

interface Broker {
  readonly write: Fields;
  readonly read: Fields;
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
  };
}

async function run(name: string, broker: Broker, reloads: number, restarts: number): Promise<void> {
  const config = (round: number) => ({
    version: 3,
    endpoints: [
      {
        endpoint: '/write',
        method: 'POST',
        timeout: '2s',
        backend: [{ url_pattern: '/', extra_config: broker.write, ...broker.around }],
      },
      {
        endpoint: '/read',
        timeout: '2s',
        backend: [{ url_pattern: '/', extra_config: broker.read, ...broker.around }],
      },
      { endpoint: `/round/${round}`, backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }] },
    ],
  });
  const gateway = await startGateway(config(0), { sinks: silentSinks });
  const published = new Set<number>();
  const received = new Map<number, number>();
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
  let lastAt = performance.now();
  let isReady = false;
  const read = async () => {
    while (isReading) {
      const { statusCode, body } = await gateway.inject('/read');
      if (statusCode !== 200) {
        await delay(5);
        continue;
      }
      const { id } = JSON.parse(body);
      lastAt = performance.now();
      if (id < 0) isReady = true;
      else received.set(id, (received.get(id) ?? 0) + 1);
    }
  };
  const readers = [read(), read(), read(), read()];
  // A message that is written before anybody listens is nobody's.
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
  await broker.close();
  const lost = [...published].filter((id) => !received.has(id)).length;
  const doubled = [...received.values()].filter((count) => count > 1).length;
  const unsure = [...received.keys()].filter((id) => !published.has(id)).length;
  console.log(
    `${name}: ${reloads} reloads, ${restarts} restarts: published ${published.size}, refused ${refused} (${unsure} of them arrived), received ${received.size}, lost ${lost}, doubled ${doubled}`,
  );
}

const brokers = { nats, kafka };
for (const [name, open] of Object.entries(brokers)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  await run(name, await open(), Number(values.reloads), 0);
  await run(name, await open(), Number(values.reloads), Number(values.restarts));
}
