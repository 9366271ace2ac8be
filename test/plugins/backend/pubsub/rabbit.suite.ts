import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import type { Operations } from '#kernel';
import { until } from '../../../support/conditions.ts';
import { setEnvironment } from '../../../support/environment.ts';
import { rememberingSinks, startGateway } from '../../../support/gateway.ts';
import type { Broker } from '../../clients/amqp/broker.test.ts';

/** Publishers and subscribers with `rabbit://`. */
export function pubsubSuite(broker: () => Broker): void {
  describe('backend/pubsub with RabbitMQ', () => {
    let gateway: Operations | undefined;
    let own: ChannelModel;
    let admin: Channel;
    let restore: () => void;
    let sinks: ReturnType<typeof rememberingSinks>;
    let count = 0;
    let name: string;

    beforeEach(async () => {
      restore = setEnvironment({ RABBIT_SERVER_URL: broker().rabbit.url });
      own = await broker().rabbit.connect();
      admin = await own.createChannel();
      sinks = rememberingSinks();
      name = `pubsub-${count++}`;
    });
    afterEach(async () => {
      await gateway?.close();
      gateway = undefined;
      await own.close();
      restore();
    });

    const start = async (scheme = 'rabbit', more: object = {}) => {
      const backend = (extra: object) => [
        { host: [`${scheme}://`], disable_host_sanitize: true, url_pattern: '/', extra_config: extra },
      ];
      gateway = await startGateway(
        {
          ...more,
          extra_config: { router: { return_error_msg: true } },
          endpoints: [
            {
              endpoint: '/publish',
              method: 'POST',
              input_headers: ['X-A', 'CC'],
              backend: backend({ 'backend/pubsub/publisher': { topic_url: name } }),
            },
            {
              endpoint: '/take',
              timeout: '5s',
              backend: backend({ 'backend/pubsub/subscriber': { subscription_url: name } }),
            },
          ],
        },
        { sinks },
      );
    };
    const publish = (payload: string, headers: Record<string, string> = {}) =>
      gateway!.inject({ method: 'POST', url: '/publish', payload, headers });
    const take = () => gateway!.inject('/take');
    /** An exchange that routes everything to a queue of the same name. */
    const declare = async () => {
      await admin.assertExchange(name, 'fanout', { autoDelete: true });
      await admin.assertQueue(name, { autoDelete: false });
      await admin.bindQueue(name, name, '');
    };

    for (const scheme of ['rabbit', 'amqp']) {
      it(`returns a message of a queue over ${scheme}:// and acknowledges it`, async () => {
        await declare();
        admin.sendToQueue(name, Buffer.from('{"k":"v"}'));
        await start(scheme);
        const reply = await take();
        deepEqual([reply.statusCode, reply.json()], [200, { k: 'v' }]);
        await gateway!.close();
        equal((await admin.checkQueue(name)).messageCount, 0);
      });
    }

    it('publishes to an exchange with the forwarded headers, but without headers that control the broker', async () => {
      await declare();
      const seen: ConsumeMessage[] = [];
      await admin.consume(name, (message) => void seen.push(message!), { noAck: true });
      await start();
      const reply = await publish('x=1', { 'X-A': '1', CC: 'elsewhere' });
      deepEqual([reply.statusCode, reply.body, reply.headers['x-gateway-completed']], [200, '{}', 'false']);
      await until(() => seen.length === 1);
      const { content, properties } = seen[0]!;
      equal(String(content), 'x=1');
      deepEqual([properties.headers!['X-A'], properties.headers!['Cc'] ?? properties.headers!['CC']], ['1', undefined]);
    });

    it('fails while the exchange or the queue does not exist', async () => {
      await start();
      equal((await gateway!.inject('/__health')).statusCode, 200);
      equal((await publish('x')).statusCode, 500);
      equal((await take()).statusCode, 500);
      ok(sinks.lines.some((line) => line.includes('ERROR') && line.includes('[PubSub]') && line.includes('NOT_FOUND')));
      await declare();
      await until(async () => (await publish('{"n":1}')).statusCode === 200);
      await until(async () => (await take()).statusCode === 200);
    });

    it('fails for a message that cannot be routed to a queue, until a queue is bound', async () => {
      await admin.assertExchange(name, 'fanout', { autoDelete: true });
      await start();
      const reply = await publish('x');
      deepEqual([reply.statusCode, /no queue is bound/.test(reply.body)], [500, true]);
      await declare();
      equal((await publish('x')).statusCode, 200);
    });

    it('requeues a message that cannot be decoded', async () => {
      await declare();
      admin.sendToQueue(name, Buffer.from('oops'));
      await start();
      equal((await take()).statusCode, 500);
      await gateway!.close();
      await until(async () => (await admin.checkQueue(name)).messageCount === 1);
    });

    it('requeues prefetched messages that no request received', async () => {
      await declare();
      for (let n = 0; n < 10; n++) admin.sendToQueue(name, Buffer.from(`{"n":${n}}`));
      await start();
      deepEqual((await take()).json(), { n: 0 });
      await gateway!.close();
      await until(async () => (await admin.checkQueue(name)).messageCount === 9);
    });

    it("uses the root's client_tls, and accepts a server address without a scheme", async () => {
      await declare();
      restore();
      restore = setEnvironment({ RABBIT_SERVER_URL: broker().rabbit.tlsUrl });
      await start('rabbit', { client_tls: { ca_certs: [broker().authority] } });
      equal((await publish('x')).statusCode, 200);
      await gateway!.close();
      restore();
      restore = setEnvironment({ RABBIT_SERVER_URL: broker().rabbit.url.replace('amqp://', '') });
      await start();
      equal((await publish('x')).statusCode, 200);
    });

    it('logs that the password is wrong, but not the password', async () => {
      restore();
      restore = setEnvironment({ RABBIT_SERVER_URL: `amqp://guest:wr0ng@127.0.0.1:${broker().rabbit.port}/` });
      await start();
      equal((await publish('x')).statusCode, 500);
      await until(() => sinks.lines.some((line) => line.includes('rejects the user name or the password')));
      deepEqual(
        sinks.lines.filter((line) => line.includes('wr0ng')),
        [],
      );
    });

    it('fails if the environment variable contains no valid address, without logging its value', async () => {
      restore();
      restore = setEnvironment({ RABBIT_SERVER_URL: 'http://guest:s3cret@localhost' });
      await start();
      const { statusCode, body } = await publish('x');
      equal(statusCode, 500);
      match(body, /RABBIT_SERVER_URL: not a valid broker address/);
    });
  });
}
