import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { DeniedAddresses } from '#contract';
import type { Operations } from '#kernel';
import type { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import { silentLog } from '../../../../kernel/contract/log.ts';
import { AzureSubscriber } from '../../../../plugins/backend/pubsub/lib/azure-subscriber.ts';
import { repetitions } from '../../../support/budget.ts';
import { until } from '../../../support/conditions.ts';
import { setEnvironment } from '../../../support/environment.ts';
import { rememberingSinks, startGateway } from '../../../support/gateway.ts';
import { awaitLibraryTimers } from '../../../support/library-timers.ts';
import { TestServiceBus } from '../../../support/service-bus.ts';

describe('backend/pubsub with Azure Service Bus', function () {
  // The client library is large and is loaded by the first test.
  this.timeout(180_000);
  let server: TestServiceBus;
  let gateway: Operations | undefined;
  let restore: () => void;
  let sinks: ReturnType<typeof rememberingSinks>;

  awaitLibraryTimers();

  beforeEach(async () => {
    server = new TestServiceBus();
    await server.start();
    restore = setEnvironment({ SERVICEBUS_CONNECTION_STRING: server.connection });
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
    backend: [{ host: ['azuresb://'], disable_host_sanitize: true, url_pattern: '/', extra_config: extra }],
  });
  const publish = (more: object = {}) =>
    endpoint(
      '/publish',
      { 'backend/pubsub/publisher': { topic_url: 'orders' } },
      { method: 'POST', input_headers: ['*'], ...more },
    );
  const take = (more: object = {}) =>
    endpoint('/take', { 'backend/pubsub/subscriber': { subscription_url: 'orders?subscription=gate' } }, more);
  const send = (payload: string | Buffer, headers: Record<string, string> = {}) =>
    gateway!.inject({ method: 'POST', url: '/publish', payload, headers });
  const receive = () => gateway!.inject('/take');
  const lines = (text: string) => sinks.lines.filter((line) => line.includes(text));

  it('publishes the body, with the headers as properties', async () => {
    const { ready } = server.create('orders', 'gate');
    await start(publish());
    const reply = await send('x=1', { 'X-A': '1' });
    deepEqual([reply.statusCode, reply.body, reply.headers['x-gateway-completed']], [200, '{}', 'false']);
    equal(ready[0]!.body.toString(), 'x=1');
    equal(ready[0]!.properties['X-A'], '1');
    ok(server.tokens.every((token) => token.startsWith('sb://127.0.0.1')));
  });

  it('returns a message to a waiting request and completes it', async () => {
    const subscription = server.create('orders', 'gate');
    await start(take());
    const reply = receive();
    server.publish('orders', '{"n":1}');
    deepEqual((await reply).json(), { n: 1 });
    await until(() => subscription.completed.length === 1);
    equal(subscription.locked.size, 0);
  });

  it('transfers binary data unchanged', async () => {
    server.create('orders', 'gate');
    await start(publish(), take({ output_encoding: 'no-op' }));
    const bytes = Buffer.from([0, 255, 1, 254]);
    equal((await send(bytes)).statusCode, 200);
    deepEqual((await receive()).rawPayload, bytes);
  });

  it('abandons a message that cannot be decoded, and continues', async () => {
    const subscription = server.create('orders', 'gate');
    await start(take());
    server.publish('orders', 'oops');
    equal((await receive()).statusCode, 500);
    await until(() => subscription.abandoned === 1);
    equal((await receive()).statusCode, 500);
    equal(subscription.completed.length, 0);
    ok(lines('and is requeued').length > 0);
  });

  it('fails at the deadline if no message arrived, and returns the next message to the next request', async () => {
    const subscription = server.create('orders', 'gate');
    await start(take({ timeout: '300ms' }));
    const startedAt = performance.now();
    equal((await receive()).statusCode, 500);
    ok(performance.now() - startedAt < 15_000);
    server.publish('orders', '{"n":2}');
    await until(async () => (await receive()).statusCode === 200);
    await until(() => subscription.completed.length === 1);
  });

  it('prefetches a hundred messages, and returns them to the subscription on close', async () => {
    const subscription = server.create('orders', 'gate');
    await start(take());
    server.publish('orders', ...Array.from({ length: 250 }, (_, n) => `{"n":${n}}`));
    await until(() => subscription.locked.size === 100);
    equal((await receive()).statusCode, 200);
    await until(() => subscription.completed.length === 1 && subscription.locked.size === 100);
    await gateway!.close();
    gateway = undefined;
    deepEqual([subscription.locked.size, subscription.ready.length], [0, 249]);
  });

  it('requests replacements for messages whose locks expired', async () => {
    const subscription = server.create('orders', 'gate');
    const nowhere = { has: () => false, hasPort: () => false } as unknown as DeniedAddresses;
    const subscriber = new AzureSubscriber(server.connection, 'orders', 'gate', nowhere, 20);
    subscriber.open(silentLog);
    server.publish('orders', ...Array.from({ length: 100 }, (_, n) => `{"n":${n}}`));
    await until(() => subscription.locked.size === 100);
    const before = [...subscription.locked.keys()];
    server.refusesRenewals = true;
    await until(() => before.every((tag) => !subscription.locked.has(tag)));
    server.refusesRenewals = false;
    await until(() => subscription.locked.size === 100);
    await subscriber.close();
    deepEqual([subscription.locked.size, subscription.ready.length], [0, 100]);
  });

  it('releases messages even if their link is closed', async () => {
    const subscription = server.create('orders', 'gate');
    server.ignoresDrain = true;
    await start(take());
    server.publish('orders', '{"n":1}', '{"n":2}');
    await until(() => subscription.locked.size === 2);
    await gateway!.close();
    gateway = undefined;
    deepEqual([subscription.locked.size, subscription.ready.length], [0, 2]);
  });

  it('fails at the deadline if the server does not respond', async () => {
    server.create('orders', 'gate');
    await start(publish({ timeout: '300ms' }));
    await until(async () => (await send('x')).statusCode === 200);
    server.isSilent = true;
    const startedAt = performance.now();
    equal((await send('x')).statusCode, 500);
    ok(performance.now() - startedAt < 15_000);
  });

  it('starts without the topic and the subscription, fails requests, and recovers once they exist', async () => {
    await start(publish(), take());
    equal((await send('x')).statusCode, 500);
    equal((await receive()).statusCode, 500);
    equal((await gateway!.inject('/__health')).statusCode, 200);
    await until(() => lines('could not be found').filter((line) => line.includes('[PubSub]')).length === 2);
    server.create('orders', 'gate');
    await until(async () => (await send('{"n":3}')).statusCode === 200);
    await until(async () => (await receive()).statusCode === 200);
  });

  it('logs that a key is rejected, but not the key', async () => {
    server.create('orders', 'gate');
    server.refusesTokens = true;
    await start(publish());
    equal((await send('x')).statusCode, 500);
    ok(sinks.lines.every((line) => !line.includes('c2VjcmV0')));
  });

  it('fails immediately while the server is down, and recovers with it', async () => {
    const subscription = server.create('orders', 'gate');
    await server.stop();
    // A request that comes before the end of the connection is noticed waits for a message.
    await start(publish(), take({ timeout: '2s' }));
    equal((await send('x')).statusCode, 500);
    match((await receive()).body, /not connected/);
    await server.start();
    await until(async () => (await send('{"n":1}')).statusCode === 200);
    await until(async () => (await receive()).statusCode === 200);
    await until(() => subscription.completed.length === 1);
    await server.stop();
    await until(async () => (await receive()).statusCode === 500);
    equal((await send('x')).statusCode, 500);
    await server.start();
    await until(async () => (await send('{"n":2}')).statusCode === 200);
    await until(async () => (await receive()).statusCode === 200);
  });

  it('keeps its connection and its prefetched messages across reloads', async () => {
    const subscription = server.create('orders', 'gate');
    await start(take());
    server.publish('orders', '{"n":1}');
    await until(() => subscription.locked.size === 1);
    const more = { endpoint: '/a', backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }] };
    await gateway!.reload(config(take(), more));
    equal(subscription.locked.size, 1);
    deepEqual((await receive()).json(), { n: 1 });
    equal(server.opened, 1);
  });

  it('loses no message and reports duplicates across reloads and server restarts under load', async () => {
    const subscription = server.create('orders', 'gate');
    const round = (at: number) => ({
      endpoint: `/round/${at}`,
      backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }],
    });
    await start(publish(), take({ timeout: '1s' }));
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
      await gateway!.reload(config(publish(), take({ timeout: '1s' }), round(at)));
      if (at % 6 !== 5) continue;
      const before = sent.size;
      await server.stop();
      await server.start();
      await until(() => sent.size > before + 30);
    }
    isSending = false;
    await Promise.all(writers);
    // Lets the locks of messages that were received over a lost connection expire.
    await until(() => {
      server.expire();
      return [...sent].every((n) => seen.has(n));
    });
    await until(() => subscription.locked.size === 0 && subscription.ready.length === 0);
    isOver = true;
    await Promise.all(readers);
    // Duplicates are messages whose acknowledgment was lost with the connection.
    const doubled = [...seen.values()].filter((times) => times > 1).length;
    await until(() => lines('will be redelivered').length >= doubled);
    ok(sent.size > repetitions(20, 50), `${sent.size}`);
  });

  it('fails each request if the environment has no connection string, without logging its value', async () => {
    for (const said of [undefined, 'Endpoint=sb://x', 'topsecret']) {
      setEnvironment({ SERVICEBUS_CONNECTION_STRING: said });
      await start(publish());
      const reply = await send('x');
      equal(reply.statusCode, 500);
      match(reply.body, /Azure Service Bus: .*SERVICEBUS_CONNECTION_STRING/);
      await gateway!.close();
    }
    ok(sinks.lines.every((line) => !line.includes('topsecret')));
  });

  for (const [what, component, rest] of [
    ['a missing topic', 'publisher', '?x=1'],
    ['an invalid topic name', 'publisher', 'a b'],
    ['a missing subscription', 'subscriber', 'orders'],
    ['an unknown parameter', 'subscriber', 'orders?subscription=gate&colour=red'],
  ] as const) {
    it(`rejects ${what}`, async () => {
      const field = component === 'publisher' ? 'topic_url' : 'subscription_url';
      const failure: ConfigErrors = await start(
        endpoint('/a', { [`backend/pubsub/${component}`]: { [field]: rest } }),
      ).then(
        () => Promise.reject(new Error('started')),
        (error) => error,
      );
      match(failure.errors[0]!.code, /^PUBSUB_(ADDRESS|PARAMETER)$/);
      equal(failure.errors[0]!.pointer, `/endpoints/0/backend/0/extra_config/backend~1pubsub~1${component}/${field}`);
    });
  }
});
