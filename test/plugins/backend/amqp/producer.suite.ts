import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { Channel, ChannelModel, GetMessage } from 'amqplib';
import type { Operations } from '#kernel';
import { until } from '../../../support/conditions.ts';
import { rememberingSinks, startGateway } from '../../../support/gateway.ts';
import type { Broker } from '../../clients/amqp/broker.test.ts';

/** Tests of `backend/amqp/producer`. */
export function producerSuite(broker: () => Broker): void {
  describe('backend/amqp/producer', () => {
    let gateway: Operations | undefined;
    let own: ChannelModel;
    let admin: Channel;
    let sinks: ReturnType<typeof rememberingSinks>;
    let exchanges = 0;
    let exchange: string;

    beforeEach(async () => {
      own = await broker().rabbit.connect();
      admin = await own.createChannel();
      admin.on('error', () => {});
      sinks = rememberingSinks();
      exchange = `ex-p${exchanges++}`;
    });
    afterEach(async () => {
      await gateway?.close();
      gateway = undefined;
      await own.close();
    });

    const producer = (fields: object = {}) => ({
      name: 'orders',
      exchange,
      routing_key: 'Route',
      backoff_strategy: 'linear',
      ...fields,
    });
    const endpoint = (path: string, fields: object = {}, more: object = {}) => ({
      endpoint: path,
      method: 'POST',
      ...more,
      backend: [
        {
          host: [broker().rabbit.url],
          disable_host_sanitize: true,
          method: 'POST',
          url_pattern: '/ignored',
          extra_config: { 'backend/amqp/producer': producer(fields) },
        },
      ],
    });
    const config = (...endpoints: object[]) => ({
      version: 3,
      timeout: '8s',
      extra_config: { router: { return_error_msg: true } },
      endpoints,
    });
    const start = async (...endpoints: object[]) => {
      gateway = await startGateway(config(...endpoints), { sinks });
    };
    /** A queue of the test, bound to the producer's exchange. */
    const bound = async (pattern: string): Promise<string> => {
      await admin.assertExchange(exchange, 'topic', { durable: false });
      const { queue } = await admin.assertQueue('', { exclusive: true });
      await admin.bindQueue(queue, exchange, pattern);
      return queue;
    };
    const next = async (queue: string) => (await admin.get(queue, { noAck: true })) as GetMessage | false;
    const post = async (path: string, payload = '{"a":1}', headers: Record<string, string> = {}) => {
      const {
        statusCode,
        headers: given,
        body,
      } = await gateway!.inject({ method: 'POST', url: path, payload, headers });
      return { status: statusCode, completed: given['x-gateway-completed'], body: String(body) };
    };

    it('publishes the body with a routing key from a path parameter, and responds without a body', async () => {
      await start(endpoint('/produce/{route}'));
      const queue = await bound('orders.*');
      deepEqual(await post('/produce/orders.new'), { status: 200, completed: 'false', body: '{}' });
      const message = (await next(queue)) as GetMessage;
      deepEqual([String(message.content), message.fields.routingKey], ['{"a":1}', 'orders.new']);
      equal(await next(queue), false);
    });

    it('publishes with a fixed routing key', async () => {
      await start(endpoint('/any/{x}', { routing_key: 'orders.new', static_routing_key: true }));
      const queue = await bound('orders.*');
      await post('/any/1');
      await post('/any/2');
      equal(((await next(queue)) as GetMessage).fields.routingKey, 'orders.new');
      equal(((await next(queue)) as GetMessage).fields.routingKey, 'orders.new');
    });

    it('publishes with an empty routing key if no parameter provides one, and warns about this', async () => {
      await start(endpoint('/any/{x}', { routing_key: 'orders.new' }));
      const [orders, all] = [await bound('orders.*'), await bound('#')];
      equal((await post('/any/1')).status, 200);
      equal(await next(orders), false);
      equal(((await next(all)) as GetMessage).fields.routingKey, '');
      deepEqual(
        gateway!.status.warnings
          .filter(({ code }) => code !== 'SECRET_LITERAL')
          .map(({ code, pointer }) => [code, pointer]),
        [['AMQP_PARAM', '/endpoints/0/backend/0/extra_config/backend~1amqp~1producer/routing_key']],
      );
    });

    it('sends the forwarded headers as lists, and its own message properties', async () => {
      await start(endpoint('/p/{route}', {}, { input_headers: ['X-Tenant', 'Content-Type'] }));
      const queue = await bound('#');
      const began = Math.floor(Date.now() / 1000);
      await post('/p/k', '{}', { 'x-tenant': 'a', 'content-type': 'application/json', 'x-other': 'b' });
      const { properties } = (await next(queue)) as GetMessage;
      deepEqual(properties.headers!['X-Tenant'], ['a']);
      equal(properties.headers!['X-Other'], undefined);
      match(properties.headers!['User-Agent'][0], /^Sluice Version/);
      ok(properties.headers!['X-Forwarded-For']);
      equal(properties.contentType, 'application/json');
      ok(properties.timestamp >= began && properties.timestamp <= began + 10);
      equal(properties.deliveryMode, undefined);
    });

    it('reads the message ID, expiration, reply queue and priority from parameters', async () => {
      const fields = { routing_key: 'k', static_routing_key: true, msg_id_key: 'Id', exp_key: 'Ttl' };
      await start(endpoint('/p/{id}/{ttl}/{prio}', { ...fields, priority_key: 'Prio', reply_to_key: 'Id' }));
      const queue = await bound('#');
      await post('/p/77/60000/5');
      const { properties } = (await next(queue)) as GetMessage;
      deepEqual(
        [properties.messageId, properties.expiration, properties.replyTo, properties.priority],
        ['77', '60000', '77', 5],
      );
      for (const priority of ['high', '256', '-1', '1.5']) {
        await post(`/p/77/60000/${priority}`);
        equal(((await next(queue)) as GetMessage).properties.priority, undefined, priority);
      }
    });

    it('rejects values for which the broker would close the channel, and keeps working', async () => {
      const fields = { routing_key: 'Key', exp_key: 'Ttl', reply_to_key: 'Reply' };
      await start(endpoint('/p/{key}/{ttl}/{reply}', fields, { input_headers: ['*'] }));
      const queue = await bound('#');
      const paths = [
        '/p/k/soon/r',
        '/p/k/99999999999/r',
        '/p/k/-1/r',
        '/p/k/1000/amq.rabbitmq.reply-to',
        `/p/${'k'.repeat(256)}/1000/r`,
        `/p/k/1000/${'r'.repeat(256)}`,
      ];
      for (const path of paths) equal((await post(path)).status, 400, path);
      equal((await post('/p/k/1000/r', '{}', { cookie: 'c'.repeat(15_000) })).status, 200);
      await until(async () => Boolean(await next(queue)));
    });

    it('does not let clients set the headers CC and BCC, which route copies, or __proto__', async () => {
      await start(endpoint('/p/{route}', {}, { input_headers: ['*'] }));
      const [mine, other] = [await bound('mine'), await bound('other')];
      await admin.assertQueue('other-queue', { exclusive: true });
      equal(
        (await post('/p/mine', '{}', { cc: 'other', bcc: 'other', __proto__x: 'a', ['__proto__']: 'b' })).status,
        200,
      );
      ok(await next(mine));
      equal(await next(other), false);
    });

    it('sends bodies unchanged: empty, binary and 1 MB', async () => {
      await start(endpoint('/p/{route}'));
      const queue = await bound('#');
      for (const payload of ['', 'ÿ\0', 'x'.repeat(1_000_000)]) {
        equal((await post('/p/k', payload)).status, 200);
        equal(String(((await next(queue)) as GetMessage).content), payload);
      }
    });

    it('fails if a mandatory message cannot be routed', async () => {
      await start(endpoint('/p/{route}', { mandatory: true }));
      await bound('orders.*');
      equal((await post('/p/orders.new')).status, 200);
      const refused = await post('/p/other');
      deepEqual([refused.status, refused.body], [500, 'no queue is bound with this routing key']);
    });

    it('sends persistent messages if configured', async () => {
      await start(endpoint('/p/{route}', { persistent: true }));
      const queue = await bound('#');
      await post('/p/k');
      equal(((await next(queue)) as GetMessage).properties.deliveryMode, 2);
    });

    it('fails and logs the reason if the exchange exists with another type', async () => {
      await admin.assertExchange(exchange, 'fanout', { durable: false });
      await start(endpoint('/p/{route}'));
      const refused = await post('/p/k');
      deepEqual([refused.status, refused.body], [500, 'connection not available, trying to reconnect']);
      match(sinks.lines.join(''), /ERROR.*\[BACKEND: .*\].*declaration of exchange .*PRECONDITION_FAILED/);
      await admin.deleteExchange(exchange);
      await until(async () => (await post('/p/k')).status === 200);
    });

    it('keeps its channel across reloads that do not change the backend', async () => {
      await start(endpoint('/p/{route}'));
      const queue = await bound('#');
      const logged = () => sinks.lines.filter((line) => line.includes('[AMQP]')).length;
      for (let round = 0; round < 10; round++) {
        equal((await post('/p/k', String(round))).status, 200);
        await gateway!.reload(config(endpoint('/p/{route}'), { ...endpoint(`/q${round}/{route}`), timeout: '3s' }));
      }
      equal((await admin.checkQueue(queue)).messageCount, 10);
      // Each additional endpoint has its own channel, while the first one kept its channel.
      ok(logged() <= 11, String(logged()));
    });

    it('is rejected without a broker, and warns about more than one', async () => {
      const [backend] = endpoint('/p/{route}').backend;
      const check = async (host: string[]) => {
        const document = { ...config({ ...endpoint('/p/{route}'), backend: [{ ...backend, host }] }) };
        return startGateway(document, { sinks }).then(
          async (started) => {
            const codes = started.status.warnings.map(({ code }) => code);
            await started.close();
            return codes;
          },
          ({ errors }: { errors: { code: string; message: string }[] }) => errors.map(({ code }) => code),
        );
      };
      const { url } = broker().rabbit;
      ok((await check([])).length > 0);
      deepEqual(await check(['http://broker']), ['BACKEND_SCHEME']);
      deepEqual(await check(['amqp://broker/a/b']), ['AMQP_ADDRESS']);
      ok((await check([url, 'amqp://other'])).includes('AMQP_HOSTS'));
    });
  });
}
