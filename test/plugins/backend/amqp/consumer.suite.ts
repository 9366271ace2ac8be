import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { Channel, ChannelModel, GetMessage } from 'amqplib';
import type { Operations } from '#kernel';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/backend/amqp/consumer.ts';
import { MAX_MESSAGE_BYTES } from '../../../../plugins/clients/amqp/message-limit.ts';
import { plugin as json } from '../../../../plugins/encoding/json.ts';
import { until } from '../../../support/conditions.ts';
import { countingMeter } from '../../../support/counting.ts';
import { rememberingSinks, startGateway } from '../../../support/gateway.ts';
import type { Broker } from '../../clients/amqp/broker.test.ts';

/** Tests of `backend/amqp/consumer`. */
export function consumerSuite(broker: () => Broker): void {
  describe('backend/amqp/consumer', () => {
    let gateway: Operations | undefined;
    let own: ChannelModel;
    let admin: Channel;
    let sinks: ReturnType<typeof rememberingSinks>;
    let queues = 0;
    let queue: string;

    beforeEach(async () => {
      own = await broker().rabbit.connect();
      admin = await own.createChannel();
      admin.on('error', () => {});
      sinks = rememberingSinks();
      queue = `consumed-${queues++}`;
    });
    afterEach(async () => {
      await gateway?.close();
      gateway = undefined;
      await own.close();
    });

    const backend = (fields: object = {}, more: object = {}) => ({
      host: [broker().rabbit.url],
      disable_host_sanitize: true,
      url_pattern: '/ignored',
      ...more,
      extra_config: {
        'backend/amqp/consumer': {
          name: queue,
          exchange: `ex-${queue}`,
          routing_key: ['#'],
          backoff_strategy: 'linear',
          ...fields,
        },
      },
    });
    const config = (backends: object[], more: object = {}) => ({
      version: 3,
      extra_config: { router: { return_error_msg: true } },
      endpoints: [{ endpoint: '/next', timeout: '10s', ...more, backend: backends }],
    });
    const consumes = async (count = 1) => {
      const channel = await own.createChannel();
      channel.on('error', () => {});
      const found = await channel.checkQueue(queue).catch(() => ({ consumerCount: -1 }));
      await channel.close().catch(() => {});
      return found.consumerCount === count;
    };
    const start = async (backends = [backend()], more: object = {}, debug = false) => {
      gateway = await startGateway(config(backends, more), { sinks, debug });
      await until(() => consumes(backends.length));
    };
    const publish = (text: string, key = 'k', options: object = {}) => {
      admin.publish(`ex-${queue}`, key, Buffer.from(text), options);
    };
    const next = async () => {
      const { statusCode, headers, body } = await gateway!.inject('/next');
      return {
        status: statusCode,
        completed: headers['x-gateway-completed'],
        type: headers['content-type'],
        body: String(body),
      };
    };
    it('counts messages that it drops because they cannot be decoded', async () => {
      const { counts, offers } = countingMeter();
      const fields = { name: queue, exchange: `ex-${queue}`, routing_key: ['#'], nack_discard: true };
      const around = {
        backend: { host: [broker().rabbit.url], url_pattern: '/' },
        plugins: [json],
        offers,
        endpoint: { timeout: 60_000 },
      };
      const gate = await openHarness(plugin, 'backend', fields, around);
      await until(() => consumes());
      publish('oops');
      await gate.send('GET /');
      deepEqual(
        [...counts],
        [
          ['amqp.undecoded', 1],
          ['amqp.discarded', 1],
        ],
      );
      await gate.close();
    });

    it('drops and counts an oversized message, and returns the next one', async () => {
      const { counts, offers } = countingMeter();
      for (const autoAck of [false, true]) {
        const fields = { name: queue, exchange: `ex-${queue}`, routing_key: ['#'], auto_ack: autoAck };
        const around = {
          backend: { host: [broker().rabbit.url], url_pattern: '/' },
          plugins: [json],
          offers,
          endpoint: { timeout: 60_000 },
        };
        const gate = await openHarness(plugin, 'backend', fields, around);
        await until(() => consumes());
        admin.publish(`ex-${queue}`, 'k', Buffer.alloc(MAX_MESSAGE_BYTES + 1));
        publish('{"after":1}');
        deepEqual((await gate.send('GET /')).data, { after: 1 });
        await gate.close();
        equal((await admin.checkQueue(queue)).messageCount, 0);
      }
      deepEqual([...counts], [['amqp.discarded', 2]]);
    });

    /** Number of messages in the queue after the gateway has released its own. */
    const leftOver = async (): Promise<GetMessage[]> => {
      await gateway!.close();
      const left: GetMessage[] = [];
      for (;;) {
        const message = await admin.get(queue, { noAck: true });
        if (!message) return left;
        left.push(message);
      }
    };

    it('returns the next message and acknowledges it', async () => {
      await start();
      publish('{"id":7}');
      const { status, completed, body } = await next();
      deepEqual([status, completed, body], [200, 'true', '{"id":7}']);
      deepEqual(await leftOver(), []);
    });

    it('waits for a message until the deadline', async () => {
      await start([backend()], { timeout: '200ms' });
      const began = performance.now();
      const empty = await next();
      const ms = performance.now() - began;
      deepEqual([empty.status, empty.body], [500, 'context deadline exceeded']);
      ok(ms > 150 && ms < 9000, `${ms} ms`);
      await gateway!.close();
      await start();
      const waiting = next();
      publish('{"late":true}');
      equal((await waiting).body, '{"late":true}');
    });

    it('requeues a message that cannot be decoded, or discards it if configured', async () => {
      await start();
      publish('not json');
      const refused = await next();
      equal(refused.status, 500);
      match(refused.body, /cannot be decoded/);
      const left = await leftOver();
      deepEqual(
        left.map(({ content, fields }) => [String(content), fields.redelivered]),
        [['not json', true]],
      );

      await start([backend({ nack_discard: true })], {}, true);
      publish('not json');
      publish('{"ok":1}');
      equal((await next()).status, 500);
      equal((await next()).body, '{"ok":1}');
      ok(sinks.lines.some((line) => /DEBUG.*queue "consumed-\d+" cannot be decoded, and is discarded/.test(line)));
      deepEqual(await leftOver(), []);
    });

    it("dead-letters discarded messages according to the broker's policy", async () => {
      const dead = `dead-${queue}`;
      await admin.assertQueue(dead);
      await start([backend({ nack_discard: true })]);
      await broker().rabbit.deadLetter(queue, dead);
      publish('not json');
      equal((await next()).status, 500);
      let letter: GetMessage | false = false;
      await until(async () => {
        letter = await admin.get(dead, { noAck: true });
        return letter !== false;
      });
      const { content, properties } = letter as unknown as GetMessage;
      deepEqual([String(content), properties.headers!['x-first-death-reason']], ['not json', 'rejected']);
      deepEqual(await leftOver(), []);
    });

    it("decodes messages with the backend's encoding, including collections and empty messages", async () => {
      await start([backend({}, { encoding: 'string' })]);
      publish('hello');
      equal((await next()).body, '{"content":"hello"}');
      await gateway!.close();
      await start([backend({}, { is_collection: true, mapping: { collection: 'rows' } })]);
      publish('[1,2]');
      equal((await next()).body, '{"rows":[1,2]}');
      publish('');
      deepEqual([(await next()).body], ['{}']);
    });

    it('forwards bytes and content type with the no-op encoding', async () => {
      await start([backend({}, { encoding: 'no-op' })], { output_encoding: 'no-op' });
      publish('<a/>', 'k', { contentType: 'application/xml' });
      const { status, type, body } = await next();
      deepEqual([status, type, body], [200, 'application/xml', '<a/>']);
      deepEqual(await leftOver(), []);
    });

    it('delivers different messages to two backends with the same queue', async () => {
      await start([backend({ prefetch_count: 1 }, { group: 'a' }), backend({ prefetch_count: 1 }, { group: 'b' })]);
      publish('{"n":1}');
      publish('{"n":2}');
      const { a, b } = JSON.parse((await next()).body);
      deepEqual([a.n, b.n].toSorted(), [1, 2]);
    });

    it('delivers one message to each concurrent request', async () => {
      await start();
      for (let n = 0; n < 20; n++) publish(`{"n":${n}}`);
      const replies = await Promise.all(Array.from({ length: 20 }, next));
      deepEqual(
        replies.map(({ body }) => JSON.parse(body).n).toSorted((one: number, other: number) => one - other),
        Array.from({ length: 20 }, (_, n) => n),
      );
    });

    it('acknowledges nothing with auto_ack, and keeps its channel', async () => {
      await start([backend({ auto_ack: true })]);
      for (const n of [1, 2, 3]) {
        publish(`{"n":${n}}`);
        equal((await next()).body, `{"n":${n}}`);
      }
      equal(sinks.lines.filter((line) => line.includes('[AMQP]')).length, 1);
    });

    it('stops consuming with auto_ack once its buffer is full, and loses no messages', async () => {
      await start([backend({ auto_ack: true })]);
      for (let n = 0; n < 3000; n++) publish(`{"n":${n}}`);
      await until(() => consumes(0));
      for (let n = 0; n < 3000; n++) equal((await next()).body, `{"n":${n}}`);
    });

    it('binds its queue with each of its routing keys', async () => {
      await start([backend({ routing_key: ['orders.*', 'bills.#'] })]);
      publish('{"n":1}', 'orders.new');
      publish('{"n":2}', 'other');
      publish('{"n":3}', 'bills.eu.1');
      deepEqual([(await next()).body, (await next()).body], ['{"n":1}', '{"n":3}']);
      deepEqual(await leftOver(), []);
    });

    it('applies response manipulation like any backend, and ignores the request', async () => {
      await start([backend({}, { allow: ['id'], group: 'order' })]);
      publish('{"id":7,"secret":1}', 'k', { headers: { ['__proto__']: { polluted: true } } });
      equal((await next()).body, '{"order":{"id":7}}');
      equal(({} as Record<string, unknown>)['polluted'], undefined);
    });

    it('delivers a message to the next request if earlier requests have timed out', async () => {
      await start([backend()], { timeout: '50ms' });
      await Promise.all([next(), next(), next()]);
      publish('{"n":1}');
      await until(async () => (await next()).body === '{"n":1}');
    });

    it('requeues its prefetched messages when a reload removes the backend', async () => {
      await start();
      for (const n of [1, 2, 3]) publish(`{"n":${n}}`);
      equal((await next()).body, '{"n":1}');
      await gateway!.reload({ ...config([backend()]), endpoints: [] });
      await until(() => consumes(0));
      deepEqual(
        (await leftOver()).map(({ content }) => String(content)),
        ['{"n":2}', '{"n":3}'],
      );
    });

    it('keeps its prefetched messages across a reload that does not change the backend', async () => {
      await start();
      for (const n of [1, 2]) publish(`{"n":${n}}`);
      equal((await next()).body, '{"n":1}');
      await gateway!.reload({ ...config([backend()]), timeout: '7s' });
      equal((await next()).body, '{"n":2}');
    });

    it('fails immediately and logs the reason if its queue cannot be declared', async () => {
      await admin.assertQueue(queue, { durable: true });
      gateway = await startGateway(config([backend()]), { sinks });
      const refused = await next();
      deepEqual([refused.status, refused.body], [500, 'connection not available, trying to reconnect']);
      match(sinks.lines.join(''), /ERROR.*declaration of queue .*PRECONDITION_FAILED/);
      await admin.deleteQueue(queue);
      await until(() => consumes());
    });

    it('fails while another connection holds the queue exclusively', async () => {
      await admin.assertQueue(queue, { exclusive: true });
      gateway = await startGateway(config([backend({ exclusive: true })]), { sinks });
      equal((await next()).status, 500);
      match(sinks.lines.join(''), /RESOURCE_LOCKED/);
    });

    it('causes a warning if it is combined with concurrent_calls, which would lose messages', async () => {
      await start([backend()], { concurrent_calls: 2 });
      ok(gateway!.status.warnings.some(({ code }) => code === 'AMQP_CONCURRENT'));
    });
  });
}
