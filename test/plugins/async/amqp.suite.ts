import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { Channel, ChannelModel } from 'amqplib';
import { Reply } from '#contract';
import type { Operations } from '#kernel';
import { openHarness } from '../../../kernel/testing/index.ts';
import { plugin } from '../../../plugins/async/amqp.ts';
import { MAX_MESSAGE_BYTES } from '../../../plugins/clients/amqp/message-limit.ts';
import { until } from '../../support/conditions.ts';
import { countingMeter } from '../../support/counting.ts';
import { rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import type { Broker } from '../clients/amqp/broker.test.ts';

/** Agents with the driver `async/amqp`. */
export function agentSuite(broker: () => Broker): void {
  describe('an async/amqp agent', () => {
    let backend: TestBackend;
    let gateway: Operations | undefined;
    let own: ChannelModel;
    let admin: Channel;
    let sinks: ReturnType<typeof rememberingSinks>;
    let respond: (text: string) => { status: number; body: string; afterMs?: number };
    let inFlight: number;
    let most: number;
    let queues = 0;
    let queue: string;

    before(async () => {
      backend = await startBackend(({ body }, response) => {
        const { status, body: content, afterMs = 0 } = respond(String(body));
        most = Math.max(most, ++inFlight);
        const timer = setTimeout(() => {
          inFlight--;
          response.writeHead(status, { 'Content-Type': 'application/json' }).end(content);
        }, afterMs);
        response.once('close', () => clearTimeout(timer));
      });
    });
    after(() => backend.close());
    beforeEach(async () => {
      own = await broker().rabbit.connect();
      admin = await own.createChannel();
      sinks = rememberingSinks();
      respond = () => ({ status: 200, body: '{}' });
      inFlight = 0;
      most = 0;
      queue = `agent-${queues++}`;
      (backend.requests as unknown[]).length = 0;
    });
    afterEach(async () => {
      await gateway?.close();
      gateway = undefined;
      await own.close();
    });

    const agent = (driver: object = {}, consumer: object = {}, called: object = {}) => ({
      name: 'orders',
      connection: { backoff_strategy: 'linear' },
      consumer: { topic: '*.bar', timeout: '10s', ...consumer },
      backend: [{ host: [backend.url], url_pattern: '/hook', method: 'POST', ...called }],
      extra_config: { 'async/amqp': { host: broker().rabbit.url, name: queue, exchange: 'ex-agents', ...driver } },
    });
    const start = async (agents: object[] = [agent()], more: object = {}, debug = false) => {
      gateway = await startGateway({ async_agent: agents, ...more }, { sinks, debug });
      await until(() => consumes());
    };
    /** Uses a separate channel, because checking a missing queue closes the channel. */
    const counts = async () => {
      const channel = await own.createChannel();
      channel.on('error', () => {});
      const { messageCount, consumerCount } = await channel.checkQueue(queue).catch(() => ({
        messageCount: -1,
        consumerCount: -1,
      }));
      await channel.close().catch(() => {});
      return { messageCount, consumerCount };
    };
    const consumes = async () => (await counts()).consumerCount === 1;
    const publish = (text: string, options: object = {}) => {
      admin.publish('ex-agents', 'x.bar', Buffer.from(text), options);
    };
    const bodies = () => backend.requests.map(({ body }) => String(body));
    /** Number of messages in the queue after the agent's connection is closed. */
    const leftOver = async () => {
      await gateway!.close();
      return (await counts()).messageCount;
    };

    it('sends the body of each message to its backend, then acknowledges the message', async () => {
      await start();
      publish('{"n":1}', { contentType: 'application/json', headers: { 'X-A': 'b', ['__proto__']: 'c' } });
      admin.publish('ex-agents', 'x.other', Buffer.from('no'));
      await until(() => bodies().length === 1);
      const [request] = backend.requests;
      deepEqual([request!.method, request!.target, bodies()], ['POST', '/hook', ['{"n":1}']]);
      equal(request!.headers['content-type'], 'application/json');
      equal(request!.headers['x-a'], undefined);
      equal(await leftOver(), 0);
    });

    it('forwards empty and binary messages unchanged', async () => {
      await start();
      publish('');
      admin.publish('ex-agents', 'x.bar', Buffer.from([0xff, 0, 0x80]));
      await until(() => bodies().length === 2);
      deepEqual(
        backend.requests.map(({ body }) => body.toString('hex')),
        ['', 'ff0080'],
      );
      equal(await leftOver(), 0);
    });

    it('requeues a failed message, or discards it if nack_discard is set', async () => {
      respond = () => ({ status: 500, body: '' });
      await start();
      publish('one');
      await until(() => bodies().length >= 2);
      equal(await leftOver(), 1);
      match(sinks.lines.join(''), /ERROR.*\[SERVICE: AsyncAgent\]\[orders\] .*invalid status code 500/);

      await admin.purgeQueue(queue);
      (backend.requests as unknown[]).length = 0;
      await start([agent({ nack_discard: true })], {}, true);
      publish('two');
      await until(() => sinks.lines.some((line) => line.includes('message discarded')));
      equal(await leftOver(), 0);
      deepEqual(bodies(), ['two']);
    });

    it("dead-letters discarded messages according to the broker's policy", async () => {
      const dead = `dead-${queue}`;
      await admin.assertQueue(dead);
      await start([agent({ nack_discard: true })]);
      await broker().rabbit.deadLetter(queue, dead);
      respond = () => ({ status: 500, body: '' });
      publish('one');
      await until(async () => (await admin.checkQueue(dead)).messageCount === 1);
      equal(await leftOver(), 0);
      deepEqual(bodies(), ['one']);
    });

    it('drops an oversized message without running it, counts it, and continues with the next one', async () => {
      const { counts, offers } = countingMeter();
      const ran: string[] = [];
      const driver = { host: broker().rabbit.url, name: queue, exchange: 'ex-agents' };
      const gate = await openHarness(plugin, 'agent', driver, {
        agent: {
          consumer: { topic: '*.bar', workers: 1, max_rate: 0 },
          connection: { max_retries: 0, backoff_strategy: 'linear', health_interval: 1000 },
        },
        offers,
        async next(request) {
          ran.push(String(await request.body?.bytes()));
          return Reply.data({});
        },
      });
      await until(() => consumes());
      admin.publish('ex-agents', 'x.bar', Buffer.alloc(MAX_MESSAGE_BYTES + 1));
      publish('after');
      await until(() => counts.get('agent.messages') === 2);
      deepEqual(ran, ['after']);
      await gate.close();
      equal((await admin.checkQueue(queue)).messageCount, 0);
    });

    it('continues with other messages while one message keeps failing', async () => {
      respond = (text) => ({ status: text === 'poison' ? 500 : 200, body: '{}' });
      await start();
      publish('poison');
      for (const text of ['a', 'b', 'c']) publish(text);
      await until(() => ['a', 'b', 'c'].every((text) => bodies().includes(text)));
      equal(await leftOver(), 1);
    });

    it('retries a permanently failing message once a second', async () => {
      respond = (text) => ({ status: text === 'poison' ? 500 : 200, body: '{}' });
      await start();
      publish('poison');
      // Waits for the second attempt, because only repeated failures are delayed.
      await until(() => bodies().length === 2);
      const began = performance.now();
      await until(() => bodies().length === 4);
      const ms = performance.now() - began;
      ok(ms > 1900, `${ms} ms`);
      // The delayed message is still in the queue, and does not delay the shutdown of the agent.
      equal(await leftOver(), 1);
    });

    it('treats an empty backend body as a failure with json encoding, but not with no-op', async () => {
      respond = () => ({ status: 200, body: '' });
      await start();
      publish('one');
      await until(() => bodies().length >= 2);
      equal(await leftOver(), 1);
      await admin.purgeQueue(queue);
      (backend.requests as unknown[]).length = 0;
      await start([agent({}, {}, { encoding: 'no-op' })]);
      publish('two');
      await until(() => bodies().length === 1);
      equal(await leftOver(), 0);
    });

    it('treats a 204 response as a failure with json encoding', async () => {
      respond = () => ({ status: 204, body: '' });
      await start();
      publish('one');
      await until(() => bodies().length >= 2);
      equal(await leftOver(), 1);
    });

    it('consumes at most max_rate messages a second', async () => {
      await start([agent({}, { max_rate: 2 })]);
      const began = performance.now();
      for (let index = 0; index < 6; index++) publish(String(index));
      await until(() => bodies().length === 6);
      const ms = performance.now() - began;
      ok(ms > 1900, `${ms} ms`);
    });

    it('processes as many messages in parallel as it has workers', async () => {
      respond = () => ({ status: 200, body: '{}', afterMs: 2000 });
      await start([agent({}, { workers: 3 })]);
      for (const text of ['a', 'b', 'c', 'd']) publish(text);
      await until(() => bodies().length === 4);
      equal(most, 3);
    });

    it('cancels and requeues a message that exceeds the timeout', async () => {
      respond = () => ({ status: 200, body: '{}', afterMs: 300 });
      await start([agent({}, { timeout: '100ms' })]);
      publish('one');
      await until(() => bodies().length >= 2);
      equal(await leftOver(), 1);
    });

    it('does not retry failed messages with auto_ack', async () => {
      respond = () => ({ status: 500, body: '' });
      await start([agent({ auto_ack: true })]);
      for (const text of ['a', 'b']) publish(text);
      await until(() => bodies().length === 2);
      equal(await leftOver(), 0);
      deepEqual(bodies(), ['a', 'b']);
    });

    it('stops consuming with auto_ack while many messages are waiting, and loses none of them', async () => {
      respond = () => ({ status: 200, body: '{}', afterMs: 500 });
      await start([agent({ auto_ack: true }, { workers: 100 })]);
      for (let n = 0; n < 1200; n++) publish(`{"n":${n}}`);
      await until(async () => (await counts()).consumerCount === 0);
      respond = () => ({ status: 200, body: '{}' });
      await until(() => bodies().length === 1200);
      equal(new Set(bodies()).size, 1200);
      await until(() => consumes());
    });

    it('keeps its connection across a reload that only changes an endpoint', async () => {
      await start();
      const names = async () => (await counts()).consumerCount;
      const logged = () => sinks.lines.filter((line) => line.includes('Starting the consumer')).length;
      equal(logged(), 1);
      for (let round = 0; round < 5; round++) {
        const endpoints = [{ endpoint: `/x${round}`, backend: [{ host: [backend.url], url_pattern: '/' }] }];
        await gateway!.reload({ version: 3, async_agent: [agent()], endpoints });
        publish(String(round));
      }
      await until(() => bodies().length === 5);
      deepEqual([await names(), logged()], [1, 1]);
    });

    it('drains when its configuration changes, and requeues messages that it has not started', async () => {
      respond = () => ({ status: 200, body: '{}', afterMs: 200 });
      await start();
      for (const text of ['a', 'b', 'c']) publish(text);
      await until(() => bodies().length === 1);
      await gateway!.reload({ version: 3, async_agent: [] });
      await until(async () => (await counts()).messageCount === 2);
      deepEqual([bodies(), (await counts()).consumerCount], [['a'], 0]);
    });

    it('declares its queue again if the queue exists with other flags, and continues once the declaration succeeds', async () => {
      await admin.assertQueue(queue, { durable: true });
      gateway = await startGateway({ async_agent: [agent()] }, { sinks });
      await until(() => sinks.lines.some((line) => /ERROR.*declaration of queue .*PRECONDITION_FAILED/.test(line)));
      await admin.deleteQueue(queue);
      await until(() => consumes());
    });

    it('does not log the password of a failed login', async () => {
      const host = broker().rabbit.url.replace('guest:guest', 'guest:s3cret');
      gateway = await startGateway({ async_agent: [agent({ host })] }, { sinks });
      await until(() => sinks.lines.some((line) => line.includes('rejects the user name or the password')));
      ok(!sinks.lines.join('').includes('s3cret'));
    });

    it('consumes over TLS', async () => {
      const { rabbit, authority } = broker();
      await start([agent({ host: rabbit.tlsUrl })], { client_tls: { ca_certs: [authority] } });
      publish('one');
      await until(() => bodies().length === 1);
    });
  });
}
