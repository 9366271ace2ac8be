import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import type { Operations } from '#kernel';
import type { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import { Inbox } from '../../../../plugins/clients/broker/inbox.ts';
import { repetitions } from '../../../support/budget.ts';
import { until } from '../../../support/conditions.ts';
import { setEnvironment } from '../../../support/environment.ts';
import { rememberingSinks, startGateway } from '../../../support/gateway.ts';
import { TestPubSub } from '../../../support/pubsub.ts';

describe('backend/pubsub with Google Cloud Pub/Sub', function () {
  // The client library is large and is loaded by the first test.
  this.timeout(180_000);
  let server: TestPubSub;
  let gateway: Operations | undefined;
  let restore: () => void;
  let sinks: ReturnType<typeof rememberingSinks>;
  let count = 0;

  beforeEach(async () => {
    server = new TestPubSub();
    await server.start();
    restore = setEnvironment({ PUBSUB_EMULATOR_HOST: server.address, GOOGLE_APPLICATION_CREDENTIALS: undefined });
    sinks = rememberingSinks();
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await server.stop();
    restore();
  });

  const config = (...endpoints: object[]) => ({
    version: 3,
    endpoints,
    extra_config: { router: { return_error_msg: true }, 'telemetry/logging': { level: 'DEBUG', stdout: true } },
  });
  const start = async (...endpoints: object[]) => {
    gateway = await startGateway(config(...endpoints), { sinks });
    return gateway;
  };
  const endpoint = (path: string, extra: object, more: object = {}) => ({
    endpoint: path,
    timeout: '20s',
    ...more,
    backend: [{ host: ['gcppubsub://'], disable_host_sanitize: true, url_pattern: '/', extra_config: extra }],
  });
  const publish = (topic: string) =>
    endpoint(
      '/publish',
      { 'backend/pubsub/publisher': { topic_url: topic } },
      { method: 'POST', input_headers: ['*'] },
    );
  const take = (subscription: string, more: object = {}) =>
    endpoint('/take', { 'backend/pubsub/subscriber': { subscription_url: subscription } }, more);
  const send = (payload: string | Buffer, headers: Record<string, string> = {}) =>
    gateway!.inject({ method: 'POST', url: '/publish', payload, headers });
  const receive = () => gateway!.inject('/take');
  const lines = (text: string) => sinks.lines.filter((line) => line.includes(text));
  const name = () => `orders${count++}`;

  it('publishes the body, with the headers as attributes', async () => {
    const topic = name();
    const { ready } = server.create('shop', topic);
    await start(publish(`shop/${topic}`));
    const reply = await send('x=1', { 'X-A': '1' });
    deepEqual([reply.statusCode, reply.body, reply.headers['x-gateway-completed']], [200, '{}', 'false']);
    equal(ready.length, 1);
    equal(ready[0]!.data.toString(), 'x=1');
    equal(ready[0]!.attributes['X-A'], '1');
  });

  it('omits headers that the server would reject, and logs that once', async () => {
    const topic = name();
    const { ready } = server.create('shop', topic);
    await start(publish(`projects/shop/topics/${topic}`));
    for (let at = 0; at < 2; at++) {
      equal((await send('1', { 'X-Long': 'x'.repeat(1025), 'Goog-A': '1', 'X-A': '1' })).statusCode, 200);
    }
    deepEqual(
      [ready[0]!.attributes['X-A'], ready[0]!.attributes['X-Long'], ready[0]!.attributes['Goog-A']],
      ['1', undefined, undefined],
    );
    equal(lines('headers were dropped').length, 1);
  });

  it('returns a message to a waiting request and acknowledges it', async () => {
    const topic = name();
    const subscription = server.create('shop', topic);
    await start(take(`shop/${topic}`));
    const reply = receive();
    server.publish(`projects/shop/topics/${topic}`, '{"n":1}');
    deepEqual((await reply).json(), { n: 1 });
    await until(() => subscription.acknowledged.length === 1);
    equal(subscription.outstanding.size, 0);
  });

  it('transfers binary data unchanged', async () => {
    const topic = name();
    server.create('shop', topic);
    await start(publish(`shop/${topic}`), take(`shop/${topic}`, { output_encoding: 'no-op' }));
    const bytes = Buffer.from([0, 255, 1, 254]);
    equal((await send(bytes)).statusCode, 200);
    deepEqual((await receive()).rawPayload, bytes);
  });

  it('returns a message that cannot be decoded to the subscription, and continues', async () => {
    const topic = name();
    const subscription = server.create('shop', topic);
    await start(take(`shop/${topic}`));
    server.publish(`projects/shop/topics/${topic}`, 'oops');
    equal((await receive()).statusCode, 500);
    await until(() => server.calls['modifyAckDeadline'] === 1);
    equal(subscription.acknowledged.length, 0);
    equal((await receive()).statusCode, 500);
    ok(lines('and is requeued').length > 0);
  });

  it('fails at the deadline if no message arrived, and returns the next message to the next request', async () => {
    const topic = name();
    const subscription = server.create('shop', topic);
    await start(take(`shop/${topic}`, { timeout: '300ms' }));
    const startedAt = performance.now();
    equal((await receive()).statusCode, 500);
    ok(performance.now() - startedAt < 15_000);
    server.publish(`projects/shop/topics/${topic}`, '{"n":2}');
    await until(async () => (await receive()).body === '{"n":2}');
    await until(() => subscription.acknowledged.length === 1);
  });

  it('prefetches a hundred messages, and returns them to the subscription on close', async () => {
    const topic = name();
    const subscription = server.create('shop', topic);
    await start(take(`shop/${topic}`));
    const all = Array.from({ length: 250 }, (_, n) => `{"n":${n}}`);
    server.publish(`projects/shop/topics/${topic}`, ...all);
    await until(() => subscription.outstanding.size === 100);
    equal((await receive()).statusCode, 200);
    await until(() => subscription.acknowledged.length === 1 && subscription.outstanding.size === 100);
    await gateway!.close();
    gateway = undefined;
    deepEqual([subscription.outstanding.size, subscription.ready.length], [0, 249]);
  });

  it('receives redelivered messages after the leases of earlier ones expired', async () => {
    const topic = name();
    const subscription = server.create('shop', topic);
    const kept = mock.method(Inbox.prototype, 'put').mock;
    const now = performance.now.bind(performance);
    try {
      await start(take(`shop/${topic}`));
      server.publish(`projects/shop/topics/${topic}`, ...Array.from({ length: 100 }, (_, n) => `{"n":${n}}`));
      await until(() => kept.callCount() === 100);
      const handedOver = mock.method(subscription.outstanding, 'set').mock;
      mock.method(performance, 'now', () => now() + 61_000);
      server.expire();
      await until(() => kept.callCount() === 200);
      equal((await receive()).statusCode, 200);
      await until(() => subscription.acknowledged.length === 1);
      equal(handedOver.callCount(), 100);
    } finally {
      mock.reset();
    }
  });

  it("fails with the server's error code", async () => {
    const topic = name();
    server.create('shop', topic);
    await start(publish(`shop/${topic}`));
    equal((await send('x')).statusCode, 200);
    server.failing.set('publish', status.RESOURCE_EXHAUSTED);
    const reply = await send('x');
    equal(reply.statusCode, 500);
    match(reply.body, /RESOURCE_EXHAUSTED/);
    // Retries are disabled, because a repeated message could be duplicated.
    equal(server.calls['publish'], 2);
  });

  it('fails at the deadline if the server does not respond', async () => {
    const topic = name();
    server.create('shop', topic);
    await start({ ...publish(`shop/${topic}`), timeout: '300ms' });
    await until(async () => (await send('x')).statusCode === 200);
    server.silent.add('publish');
    const startedAt = performance.now();
    equal((await send('x')).statusCode, 500);
    ok(performance.now() - startedAt < 15_000);
  });

  it('works with an account that has permission to publish but not to view the topic', async () => {
    const topic = name();
    server.create('shop', topic);
    server.failing.set('getTopic', status.PERMISSION_DENIED);
    await start(publish(`shop/${topic}`));
    equal((await send('x')).statusCode, 200);
  });

  it('starts without the topic and the subscription, fails requests, and recovers once they exist', async () => {
    const topic = name();
    await start(publish(`shop/${topic}`), take(`shop/${topic}`));
    equal((await send('x')).statusCode, 500);
    equal((await receive()).statusCode, 500);
    equal((await gateway!.inject('/__health')).statusCode, 200);
    await until(() => lines('NOT_FOUND').filter((line) => line.includes('[PubSub]')).length === 2);
    server.create('shop', topic);
    await until(async () => (await send('{"n":3}')).statusCode === 200);
    await until(async () => (await receive()).statusCode === 200);
  });

  it('fails immediately while the server is down, and recovers with it', async () => {
    const topic = name();
    const subscription = server.create('shop', topic);
    await server.stop();
    // A request that comes before the end of the connection is noticed waits for a message.
    await start(publish(`shop/${topic}`), take(`shop/${topic}`, { timeout: '2s' }));
    equal((await send('x')).statusCode, 500);
    match((await receive()).body, /not connected/);
    await server.start();
    await until(async () => (await send('{"n":1}')).statusCode === 200);
    await until(async () => (await receive()).statusCode === 200);
    await until(() => subscription.acknowledged.length === 1);
    await server.stop();
    await until(async () => (await receive()).statusCode === 500);
    equal((await send('x')).statusCode, 500);
    await server.start();
    await until(async () => (await send('{"n":2}')).statusCode === 200);
    await until(async () => (await receive()).statusCode === 200);
    await until(() => subscription.acknowledged.length === 2);
  });

  it('acknowledges messages of a lost connection over the next connection', async () => {
    const topic = name();
    const subscription = server.create('shop', topic);
    await start(take(`shop/${topic}`));
    server.publish(`projects/shop/topics/${topic}`, '{"n":1}', '{"n":2}');
    await until(() => subscription.outstanding.size === 2);
    await server.stop();
    await until(() => lines('connection lost').length === 1);
    deepEqual((await receive()).json(), { n: 1 });
    deepEqual((await receive()).json(), { n: 2 });
    await server.start();
    await until(() => subscription.acknowledged.length === 2);
    equal(subscription.ready.length, 0);
  });

  it('keeps its stream and its prefetched messages across reloads', async () => {
    const topic = name();
    const subscription = server.create('shop', topic);
    await start(take(`shop/${topic}`));
    server.publish(`projects/shop/topics/${topic}`, '{"n":1}');
    await until(() => subscription.outstanding.size === 1);
    const more = { endpoint: '/a', backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }] };
    await gateway!.reload(config(take(`shop/${topic}`), more));
    equal(subscription.outstanding.size, 1);
    deepEqual((await receive()).json(), { n: 1 });
    equal(server.calls['streamingPull'], 1);
  });

  it('closes even if the server does not respond', async () => {
    const topic = name();
    const subscription = server.create('shop', topic);
    await start(take(`shop/${topic}`));
    server.publish(`projects/shop/topics/${topic}`, '{"n":1}');
    await until(() => subscription.outstanding.size === 1);
    server.silent.add('modifyAckDeadline');
    const startedAt = performance.now();
    await gateway!.close();
    gateway = undefined;
    ok(performance.now() - startedAt < 30_000);
  });

  it('neither loses nor duplicates a message across reloads and server restarts under load', async () => {
    const topic = name();
    const subscription = server.create('shop', topic);
    const round = (at: number) => ({
      endpoint: `/round/${at}`,
      backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }],
    });
    await start(publish(`shop/${topic}`), take(`shop/${topic}`, { timeout: '1s' }));
    const sent = new Set<number>();
    const seen = new Map<number, number>();
    let isSending = true;
    let isOver = false;
    let next = 0;
    const writer = async () => {
      while (isSending) {
        const n = next++;
        if ((await send(`{"n":${n}}`)).statusCode === 200) sent.add(n);
        await pause(1);
      }
    };
    const reader = async () => {
      while (!isOver) {
        const reply = await receive();
        if (reply.statusCode !== 200) {
          await pause(1);
          continue;
        }
        const { n } = reply.json();
        seen.set(n, (seen.get(n) ?? 0) + 1);
      }
    };
    const readers = [reader(), reader(), reader()];
    const writers = [writer(), writer()];
    const rounds = repetitions(7, 20);
    for (let at = 0; at < rounds; at++) {
      await gateway!.reload(config(publish(`shop/${topic}`), take(`shop/${topic}`, { timeout: '1s' }), round(at)));
      if (at % 6 !== 5) continue;
      const before = sent.size;
      await server.stop();
      await server.start();
      await until(() => sent.size > before + 30);
    }
    isSending = false;
    await Promise.all(writers);
    await until(() => [...sent].every((n) => seen.has(n)));
    await until(() => subscription.outstanding.size === 0 && subscription.ready.length === 0);
    isOver = true;
    await Promise.all(readers);
    deepEqual(
      [...seen].filter(([, times]) => times > 1),
      [],
    );
    ok(sent.size > repetitions(30, 100), `${sent.size}`);
  });

  for (const [what, host, rest] of [
    ['an invalid topic', 'publisher', 'shop'],
    ['a subscription instead of a topic', 'publisher', 'projects/shop/subscriptions/orders'],
    ['a topic instead of a subscription', 'subscriber', 'projects/shop/topics/orders'],
    ['an unknown parameter', 'subscriber', 'shop/orders?colour=red'],
  ] as const) {
    it(`rejects ${what}`, async () => {
      const field = host === 'publisher' ? 'topic_url' : 'subscription_url';
      const extra = { [`backend/pubsub/${host}`]: { [field]: rest } };
      const failure: ConfigErrors = await start(endpoint('/a', extra)).then(
        () => Promise.reject(new Error('started')),
        (error) => error,
      );
      match(failure.errors[0]!.code, /^PUBSUB_(ADDRESS|PARAMETER)$/);
      equal(failure.errors[0]!.pointer, `/endpoints/0/backend/0/extra_config/backend~1pubsub~1${host}/${field}`);
    });
  }
});
