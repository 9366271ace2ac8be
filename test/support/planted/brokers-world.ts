import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createSinks } from '../../../kernel/logging/index.ts';
import { amqpDialect, natsDialect } from '../../../scripts/fuzz/dialects.ts';
import type { Dialect } from '../../../scripts/fuzz/hostile.ts';
import { kafkaDialect } from '../../../scripts/fuzz/kafka-dialect.ts';
import { until } from '../conditions.ts';
import { startNameServer } from '../dns.ts';
import { openGateway } from '../gateway.ts';
import type { World } from './world.ts';

/** Producers and agents of AMQP, NATS and Kafka, whose brokers are servers of this process, and hosts from SRV records. */
export async function makeWorld(write: (line: string) => void): Promise<World> {
  let held = (): void => {};
  let isHeld = false;
  let consumed = 0;
  const backend = createServer((message, response) => {
    message.resume();
    if (message.url === '/held') {
      isHeld = true;
      held = () => void response.end('{}');
    } else
      message.once('end', () => {
        if (message.url === '/hook') consumed += 1;
        response.setHeader('content-type', 'application/json').end('{"a":1}');
      });
  }).listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const { port } = backend.address() as AddressInfo;
  const host = [`http://127.0.0.1:${port}`];

  const amqp = await startBroker(consuming(amqpDialect, '003c0014', deliverOverAmqp));
  const nats = await startBroker(consuming(natsDialect, Buffer.from('SUB ').toString('hex'), deliverOverNats));
  const kafka = await startBroker(kafkaDialect);
  process.env['NATS_SERVER_URL'] = `nats://127.0.0.1:${nats.port}`;
  process.env['KAFKA_BROKERS'] = `127.0.0.1:${kafka.port}`;
  const names = await startNameServer();
  const record = { name: 'localhost', port, weight: 1, priority: 1 };
  names.zone.set('_http._tcp.planted.test', [record]);

  const publishing = (name: string, topic_url: string) => ({
    endpoint: `/${name}`,
    method: 'POST',
    backend: [
      {
        host: [`${name}://`],
        disable_host_sanitize: true,
        url_pattern: '/',
        extra_config: { 'backend/pubsub/publisher': { topic_url } },
      },
    ],
  });
  const agent = (name: string, topic: string, driver: object) => ({
    name,
    connection: { backoff_strategy: 'fallback' },
    consumer: { topic, timeout: '2s' },
    backend: [{ host, url_pattern: '/hook', method: 'POST' }],
    extra_config: driver,
  });
  const amqpUrl = `amqp://a:b@127.0.0.1:${amqp.port}`;
  const output = {
    write(bytes: Uint8Array, done: () => void): void {
      for (const line of Buffer.from(bytes).toString().split('\n')) write(line);
      done();
    },
  };
  const gateway = await openGateway(
    {
      version: 3,
      listen_ip: '127.0.0.1',
      timeout: '2s',
      dns_cache_ttl: '1s',
      extra_config: { 'telemetry/logging': { level: 'INFO', stdout: true } },
      async_agent: [
        agent('amqp', '*.a', { 'async/amqp': { host: amqpUrl, name: 'a', exchange: 'a' } }),
        agent('nats', 'agents', { 'async/nats': { host: `127.0.0.1:${nats.port}` } }),
      ],
      endpoints: [
        { endpoint: '/held', timeout: '600s', backend: [{ host, url_pattern: '/held' }] },
        { endpoint: '/quick', backend: [{ host, url_pattern: '/' }] },
        {
          endpoint: '/amqp',
          method: 'POST',
          backend: [
            {
              host: [amqpUrl],
              disable_host_sanitize: true,
              method: 'POST',
              url_pattern: '/',
              extra_config: {
                'backend/amqp/producer': { name: 'a', exchange: 'a', routing_key: 'a', backoff_strategy: 'fallback' },
              },
            },
          ],
        },
        publishing('nats', 'a'),
        publishing('kafka', 'a'),
        {
          endpoint: '/discovered',
          backend: [{ host: ['_http._tcp.planted.test'], sd: 'dns', disable_host_sanitize: true, url_pattern: '/' }],
        },
      ],
    } as never,
    { port: 0, sinks: createSinks({ stdout: output, stderr: output }) },
  );
  const { port: own } = await gateway.listen();
  const url = `http://127.0.0.1:${own}`;
  const ask = async (path: string, body: string | null = 'x'): Promise<void> => {
    const method = body === null ? 'GET' : 'POST';
    const response = await fetch(`${url}${path}`, { method, body, signal: AbortSignal.timeout(2_500) });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
  };
  const consume = async (broker: Broker): Promise<void> => {
    await until(() => broker.consumers.size > 0);
    const before = consumed;
    for (const deliver of broker.consumers.values()) deliver();
    await until(() => consumed > before);
  };
  const works = {
    amqp: () => Promise.all([ask('/amqp'), consume(amqp)]),
    nats: () => Promise.all([ask('/nats'), consume(nats)]),
    kafka: () => ask('/kafka'),
  };
  const restart = async (broker: Broker, isUp: () => Promise<unknown>): Promise<void> => {
    broker.drop();
    await until(async () => {
      await delay(50);
      return isUp().then(
        () => true,
        () => false,
      );
    });
  };
  const looked = async (): Promise<void> => {
    const before = names.requested.length;
    await until(() => names.requested.length > before);
    await ask('/discovered', null);
  };
  return {
    gateway,
    url,
    rooms: ['plugins/clients/', 'plugins/async/', 'plugins/discovery/'],
    steps: {
      'a message to AMQP': () => ask('/amqp'),
      'a message to NATS': () => ask('/nats'),
      'a message to Kafka': () => ask('/kafka'),
      'a message from AMQP': () => consume(amqp),
      'a message from NATS': () => consume(nats),
      'a restart of the AMQP broker': () => restart(amqp, works.amqp),
      'a restart of the NATS server': () => restart(nats, works.nats),
      'a restart of the Kafka broker': () => restart(kafka, works.kafka),
      'a lookup of SRV records': looked,
    },
    works: {
      'a restart of the AMQP broker': works.amqp,
      'a restart of the NATS server': works.nats,
      'a restart of the Kafka broker': works.kafka,
    },
    isHeld: () => isHeld,
    async release() {
      held();
    },
    async close() {
      await gateway.close();
      await names.close();
      for (const broker of [amqp, nats, kafka]) broker.close();
      backend.closeAllConnections();
      backend.close();
    },
  };
}

interface Broker {
  readonly port: number;
  /** Functions that deliver a message to a consumer, by its connection. */
  readonly consumers: ReadonlyMap<Socket, () => void>;
  /** Closes all connections. */
  drop(): void;
  close(): void;
}

type Consuming = (consumers: Map<Socket, () => void>) => Dialect;

async function startBroker(dialect: Dialect | Consuming): Promise<Broker> {
  const consumers = new Map<Socket, () => void>();
  const sockets = new Set<Socket>();
  const serve = dialect.length === 1 ? (dialect as Consuming)(consumers) : (dialect as Dialect);
  const server: Server = createTcp((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .once('close', () => {
        sockets.delete(socket);
        consumers.delete(socket);
      });
    serve(socket, (message) => void socket.write(Buffer.from(message as string, 'latin1')));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    consumers,
    drop,
    close() {
      drop();
      server.close();
    },
  };
}

/** @param mark bytes of a client that subscribes, in hexadecimal. @param deliver sends a message with a number of its own. */
function consuming(dialect: Dialect, mark: string, deliver: (socket: Socket, count: number) => void): Consuming {
  return (consumers) => (socket, say) => {
    let count = 0;
    socket.on('data', (chunk) => {
      if (chunk.toString('hex').includes(mark)) consumers.set(socket, () => deliver(socket, ++count));
    });
    dialect(socket, say);
  };
}

function deliverOverNats(socket: Socket): void {
  socket.write('MSG agents 1 1\r\nx\r\n');
}

/** Sends `basic.deliver` on the first channel, with a header and a body of one byte. */
function deliverOverAmqp(socket: Socket, count: number): void {
  const frame = (type: number, payload: string): Buffer => {
    const bytes = Buffer.from(payload, 'hex');
    const head = Buffer.alloc(7);
    head.writeUInt8(type);
    head.writeUInt16BE(1, 1);
    head.writeUInt32BE(bytes.length, 3);
    return Buffer.concat([head, bytes, Buffer.of(0xce)]);
  };
  const tag = count.toString(16).padStart(16, '0');
  socket.write(
    Buffer.concat([
      // The consumer's name `a`, delivered once, exchange and routing key `a`.
      frame(1, `003c003c0161${tag}0001610161`),
      frame(2, '003c0000' + '0000000000000001' + '0000'),
      frame(3, '78'),
    ]),
  );
}
