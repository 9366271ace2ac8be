import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import type { Msg } from '@nats-io/transport-node';
import type { Operations } from '#kernel';
import { toolServices } from '../../../../kernel/cli/tools.ts';
import { Registry } from '../../../../kernel/registry/registry.ts';
import { examine } from '../../../../kernel/runtime/build/build.ts';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin as subscriber } from '../../../../plugins/backend/pubsub/subscriber/index.ts';
import { plugin as json } from '../../../../plugins/encoding/json.ts';
import { catalogue } from '../../../../plugins/index.ts';
import { until } from '../../../support/conditions.ts';
import { countingMeter } from '../../../support/counting.ts';
import { INSTALLATION_MS } from '../../../support/debian.ts';
import { setEnvironment } from '../../../support/environment.ts';
import { rememberingSinks, startGateway } from '../../../support/gateway.ts';
import { isHeard, startNats, type TestNats, withoutNats } from '../../../support/nats.ts';
import { publish, take } from './nats-endpoints.ts';

(withoutNats ? describe.skip : describe)(`NATS behind a backend${withoutNats ? `: ${withoutNats}` : ''}`, function () {
  this.timeout(INSTALLATION_MS);
  let server: TestNats;
  let gateway: Operations | undefined;
  let restore: () => void;
  let sinks: ReturnType<typeof rememberingSinks>;

  before(async () => {
    server = await startNats();
  });
  after(() => server.close());
  beforeEach(() => {
    restore = setEnvironment({ NATS_SERVER_URL: server.address });
    sinks = rememberingSinks();
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    restore();
  });

  const start = async (...endpoints: object[]) => {
    gateway = await startGateway(
      {
        endpoints,
        extra_config: { router: { return_error_msg: true }, 'telemetry/logging': { level: 'DEBUG', stdout: true } },
      },
      { sinks },
    );
    return gateway;
  };
  const lines = (text: string) => sinks.lines.filter((line) => line.includes(text));
  /** Subscribes with the test's own client. */
  const listen = async (subject: string) => {
    const client = await server.connect();
    const seen: Msg[] = [];
    client.subscribe(subject, { callback: (_error, message) => void seen.push(message) });
    await client.flush();
    return seen;
  };

  it('publishes the body with the forwarded headers, the first value of each', async () => {
    const seen = await listen('events');
    await start(publish('events'));
    const reply = await gateway!.inject({
      method: 'POST',
      url: '/pub/events',
      headers: { 'X-A': '1', 'x-b': ['2', '3'], 'X-C': '4' },
      payload: 'x=1',
    });
    equal(reply.statusCode, 200);
    equal(reply.body, '{}');
    equal(reply.headers['x-gateway-completed'], 'false');
    await until(() => seen.length === 1);
    equal(seen[0]!.string(), 'x=1');
    deepEqual(
      ['X-A', 'X-B', 'X-C'].map((name) => seen[0]!.headers!.values(name)),
      [['1'], ['2'], []],
    );
    ok(lines('[BACKEND: nats://events][PubSub]').some((line) => line.includes('DEBUG')));
  });

  it('returns the next message to a waiting request', async () => {
    await start(take('jobs'));
    const client = await ready('jobs');
    const reply = gateway!.inject('/take/jobs');
    client.publish('jobs', '{"n":1}');
    deepEqual([(await reply).statusCode, (await reply).json()], [200, { n: 1 }]);
  });

  it('fails at the deadline if no message arrived', async () => {
    await start(take('silent', { timeout: '300ms' }));
    const startedAt = performance.now();
    equal((await gateway!.inject('/take/silent')).statusCode, 500);
    const ms = performance.now() - startedAt;
    ok(ms >= 290 && ms < 15_000, `${ms}`);
  });

  it('fails each request if the environment variable for the server is not set, and logs that once', async () => {
    restore();
    restore = setEnvironment({ NATS_SERVER_URL: undefined });
    await start(publish('events'));
    for (let i = 0; i < 3; i++) equal((await gateway!.inject({ method: 'POST', url: '/pub/events' })).statusCode, 500);
    equal(lines('NATS_SERVER_URL').filter((line) => line.includes('ERROR') && line.includes('[PubSub]')).length, 1);
  });

  it('buffers up to a hundred messages between requests, and drops the oldest', async () => {
    await start(take('many'));
    const client = await ready('many');
    for (let n = 0; n < 105; n++) client.publish('many', `{"n":${n}}`);
    await client.flush();
    await until(() => lines('messages dropped').length > 0);
    const numbers: number[] = [];
    for (let i = 0; i < 100; i++) numbers.push((await gateway!.inject('/take/many')).json().n);
    deepEqual([numbers[0], numbers.at(-1), numbers.length], [5, 104, 100]);
  });

  it('buffers at most 64 MiB of messages, and drops the oldest', async () => {
    await start(take('large'));
    const client = await ready('large');
    const message = (n: number) => JSON.stringify({ n: n + 10, text: 'x'.repeat(1_000_000) });
    const kept = Math.ceil((64 * 1024 * 1024) / message(0).length);
    for (let n = 0; n < kept + 10; n++) {
      client.publish('large', message(n));
      await client.flush();
    }
    await until(() => lines('10 messages dropped').length > 0);
    equal((await gateway!.inject('/take/large')).json().n, 20);
  });

  it('counts dropped messages and messages that cannot be decoded', async () => {
    const { counts, offers } = countingMeter();
    const around = { backend: { host: ['nats://'] }, plugins: [json], offers };
    const gate = await openHarness(subscriber, 'backend', { subscription_url: 'counted' }, around);
    const client = await server.connect();
    const first = gate.send('GET /');
    let isTaken = false;
    void first.then(() => {
      isTaken = true;
    });
    await until(async () => {
      client.publish('counted', '{}');
      await client.flush();
      return isTaken;
    });
    for (let n = 0; n < 110; n++) client.publish('counted', 'oops');
    await client.flush();
    await until(() => (counts.get('pubsub.discarded') ?? 0) >= 10);
    await gate.send('GET /');
    equal(counts.get('pubsub.undecoded'), 1);
    await gate.close();
  });

  /** Waits until the gateway has subscribed to a subject. */
  const ready = async (subject: string) => {
    const client = await server.connect();
    await until(() => isHeard(client, subject, '{}'));
    await gateway!.inject(`/take/${subject}`);
    return client;
  };

  it('delivers each message to one waiting request, in order of arrival', async () => {
    await start(take('shared'));
    const client = await ready('shared');
    const replies = Promise.all(Array.from({ length: 5 }, () => gateway!.inject('/take/shared')));
    for (let n = 0; n < 5; n++) client.publish('shared', `{"n":${n}}`);
    deepEqual((await replies).map((reply) => reply.json().n).sort(), [0, 1, 2, 3, 4]);
  });

  it('shares the messages of a queue group with other subscribers', async () => {
    const client = await server.connect();
    let others = 0;
    client.subscribe('work', { queue: 'g', callback: () => void others++ });
    await client.flush();
    await start(take('work?queue=g', { timeout: '2s' }));
    let mine = 0;
    await until(async () => {
      for (let n = 0; n < 20; n++) client.publish('work', '{}');
      await client.flush();
      mine += (await gateway!.inject('/take/work-queue-g')).statusCode === 200 ? 1 : 0;
      return mine > 0 && others > 0;
    });
  });

  it('fails for a message that cannot be decoded, which is lost, and logs this', async () => {
    await start(take('broken'));
    const client = await ready('broken');
    client.publish('broken', 'oops');
    client.publish('broken', '{"n":2}');
    equal((await gateway!.inject('/take/broken')).statusCode, 500);
    deepEqual((await gateway!.inject('/take/broken')).json(), { n: 2 });
    equal(lines('cannot be decoded as json').length, 1);
  });

  it('returns an empty response for an empty message, and bytes with the no-op encoding', async () => {
    await start(
      take('empty'),
      take('shaped', {}, { allow: ['a'], group: 'g' }),
      take('bytes', { output_encoding: 'no-op' }),
    );
    const sent = async (subject: string, payload: string) => {
      const client = await ready(subject);
      const reply = gateway!.inject(`/take/${subject}`);
      client.publish(subject, payload);
      return reply;
    };
    const empty = await sent('empty', '');
    deepEqual([empty.statusCode, empty.body], [200, '{}']);
    equal((await sent('shaped', '{"a":1,"b":2}')).body, '{"g":{"a":1}}');
    equal((await sent('bytes', '\u0000any')).body, '\u0000any');
  });

  it('fails immediately while the server is down, and recovers when it is up', async () => {
    await server.stop();
    await start(publish('later'), take('later'));
    const send = () => gateway!.inject({ method: 'POST', url: '/pub/later', payload: 'x' });
    equal((await send()).statusCode, 500);
    equal((await gateway!.inject('/take/later')).statusCode, 500);
    equal((await gateway!.inject('/__health')).statusCode, 200);
    await until(() => lines('not connected').some((line) => line.includes('ERROR')));
    await server.start();
    await until(async () => (await send()).statusCode === 200);
    await server.stop();
    await until(async () => (await send()).statusCode === 500);
    match((await send()).body, /connection lost|not connected/);
    await server.start();
    await until(async () => (await send()).statusCode === 200);
    await ready('later');
  });

  it('keeps its connection and buffered messages across reloads', async () => {
    const config = (more: object) => ({ version: 3, endpoints: [take('kept'), more] });
    gateway = await startGateway(config({ endpoint: '/a', backend: [{ host: ['http://a'], url_pattern: '/' }] }), {
      sinks,
    });
    const client = await ready('kept');
    client.publish('kept', '{"n":1}');
    await client.flush();
    await gateway.reload(config({ endpoint: '/b', backend: [{ host: ['http://b'], url_pattern: '/' }] }));
    deepEqual((await gateway.inject('/take/kept')).json(), { n: 1 });
  });

  it('opens no connection in a dry run', async () => {
    let connections = 0;
    const trap = createServer(() => connections++).listen(0, '127.0.0.1');
    await until(() => trap.listening);
    const { port } = trap.address() as { port: number };
    restore();
    restore = setEnvironment({ NATS_SERVER_URL: `nats://127.0.0.1:${port}` });
    const registry = new Registry(catalogue, toolServices());
    const { errors } = await examine({ version: 3, endpoints: [publish('a'), take('b')] }, {}, registry, true);
    await registry.close();
    trap.close();
    deepEqual(errors, []);
    equal(connections, 0);
  });

  it('abandons and closes a connection if the server accepts it but does not respond', async function () {
    this.timeout(30_000);
    const sockets = new Set<Socket>();
    let accepted = 0;
    const silent = createServer((socket) => {
      accepted++;
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
    }).listen(0, '127.0.0.1');
    await until(() => silent.listening);
    const { port } = silent.address() as { port: number };
    restore();
    restore = setEnvironment({ NATS_SERVER_URL: `nats://127.0.0.1:${port}` });
    await start(publish('silent', { timeout: '200ms' }));
    equal((await gateway!.inject({ method: 'POST', url: '/pub/silent' })).statusCode, 500);
    await until(() => accepted >= 2);
    ok(sockets.size <= 1);
    await gateway!.close();
    await until(() => sockets.size === 0);
    silent.close();
  });

  it('fails at the deadline if the server does not confirm a message', async () => {
    await start(publish('stuck', { timeout: '300ms' }));
    await until(async () => (await gateway!.inject({ method: 'POST', url: '/pub/stuck' })).statusCode === 200);
    server.pause();
    try {
      await until(async () => (await gateway!.inject({ method: 'POST', url: '/pub/stuck' })).statusCode === 500);
    } finally {
      server.resume();
    }
    await until(async () => (await gateway!.inject({ method: 'POST', url: '/pub/stuck' })).statusCode === 200);
  });

  it("rejects a message larger than the server's limit", async () => {
    await start(publish('large'));
    await until(async () => (await gateway!.inject({ method: 'POST', url: '/pub/large' })).statusCode === 200);
    const payload = Buffer.alloc(2 * 1024 * 1024, 'x');
    const reply = await gateway!.inject({ method: 'POST', url: '/pub/large', payload });
    equal(reply.statusCode, 500);
    match(reply.body, /max_payload/);
    equal((await gateway!.inject({ method: 'POST', url: '/pub/large', payload: 'x' })).statusCode, 200);
  });
});
