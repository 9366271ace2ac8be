import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Channel, ChannelModel } from 'amqplib';
import { Call } from '#contract';
import { silentLog } from '../../../../kernel/contract/log.ts';
import { DeniedAddresses } from '../../../../kernel/net/denied-addresses.ts';
import { readAmqpAddress } from '../../../../plugins/services/amqp/address.ts';
import { AmqpChannel, type ChannelUse } from '../../../../plugins/services/amqp/channel.ts';
import { AmqpConnection } from '../../../../plugins/services/amqp/connection.ts';
import { openLink } from '../../../../plugins/services/amqp/link.ts';
import { limitMessages, tooLong } from '../../../../plugins/services/amqp/message-limit.ts';
import { Publisher } from '../../../../plugins/services/amqp/publisher.ts';
import { type Delivery, subscribe } from '../../../../plugins/services/amqp/subscription.ts';
import { declareExchange, declareQueue } from '../../../../plugins/services/amqp/topology.ts';
import { until } from '../../../support/conditions.ts';
import type { Broker } from './broker.test.ts';

const flags = { durable: false, delete: false, exclusive: false };

/** What all that speaks AMQP is made of. */
export function channelSuite(broker: () => Broker): void {
  describe('a channel of AMQP', () => {
    let connection: AmqpConnection;
    let own: ChannelModel;
    let admin: Channel;
    let call: Call;
    let channels: AmqpChannel<unknown>[];
    let lines: string[];

    const settings = (url = broker().rabbit.url, tls: object | null = null) => ({
      address: readAmqpAddress(url),
      tls: tls && { secureContext: createSecureContext(tls), rejectUnauthorized: true },
      denied: new DeniedAddresses(),
    });
    const { signal } = new AbortController();
    const note = (line: string | (() => string)) => void lines.push(String(line));
    const start = <T>(use: ChannelUse<T>, maxRetries = 0): AmqpChannel<T> => {
      const log = { ...silentLog, error: note, info: note } as typeof silentLog;
      const reconnection = { maxRetries, strategy: 'linear' } as const;
      const channel = new AmqpChannel(connection, use, log);
      channels.push(channel);
      channel.start(reconnection, log);
      return channel;
    };
    const publishTo = (exchange: string, isMandatory = false) =>
      start({
        async open(channel, link) {
          await declareExchange(channel, exchange, flags);
          return new Publisher(channel, link, exchange, isMandatory);
        },
      });
    const send = async (channel: AmqpChannel<Publisher>, routingKey: string, text: string) => {
      const publisher = await channel.ready(call);
      return publisher.publish({ routingKey, content: Buffer.from(text), properties: {} }, call);
    };

    beforeEach(async () => {
      connection = new AmqpConnection(settings());
      own = await broker().rabbit.connect();
      admin = await own.createChannel();
      admin.on('error', () => {});
      call = new Call(silentLog, 20_000);
      channels = [];
      lines = [];
    });
    afterEach(async () => {
      call.finish();
      await Promise.all(channels.map((channel) => channel.close()));
      await connection.close();
      await own.close();
    });

    it('publishes, and is done once the broker has confirmed', async () => {
      await admin.assertQueue('c1');
      const publisher = publishTo('ex-c1');
      await publisher.ready(call);
      await admin.bindQueue('c1', 'ex-c1', 'a.*');
      await send(publisher, 'a.b', 'hello');
      equal(((await admin.get('c1', { noAck: true })) as { content: Buffer }).content.toString(), 'hello');
    });

    it('knows which of many messages no queue takes', async () => {
      const publisher = publishTo('ex-c2', true);
      await publisher.ready(call);
      await admin.assertQueue('c2');
      await admin.bindQueue('c2', 'ex-c2', 'good');
      const sent = Array.from({ length: 50 }, (_, index) => send(publisher, index % 3 === 0 ? 'bad' : 'good', 'same'));
      const settled = await Promise.allSettled(sent);
      deepEqual(
        settled.map(({ status }) => status),
        sent.map((_, index) => (index % 3 === 0 ? 'rejected' : 'fulfilled')),
      );
      await rejects(send(publisher, 'bad', 'x'), /no queue takes/);
    });

    it('is refused a message that cannot be written, and goes on', async () => {
      const publisher = publishTo('ex-c3');
      await rejects(send(publisher, 'k'.repeat(256), 'x'), /cannot be sent: .*255/);
      await send(publisher, 'k', 'x');
    });

    it('consumes, and a message that was not done comes again', async () => {
      const taken: Delivery[] = [];
      const consumer = start({
        async open(channel, _link, lost) {
          const declaration = { ...flags, name: 'c4', exchange: 'ex-c4', routingKeys: ['#'] };
          const queue = await declareQueue(channel, declaration);
          const options = { queue, isExclusive: false, autoAck: false, prefetch: 2, log: silentLog };
          return subscribe(channel, options, (delivery) => taken.push(delivery), lost);
        },
      });
      await consumer.ready(call);
      for (const text of ['a', 'b', 'c']) admin.publish('ex-c4', 'k', Buffer.from(text), { contentType: 'text/plain' });
      await until(() => taken.length === 2);
      deepEqual(
        taken.map(({ content, contentType, isRedelivered }) => [String(content), contentType, isRedelivered]),
        [
          ['a', 'text/plain', false],
          ['b', 'text/plain', false],
        ],
      );
      taken[0]!.ack();
      taken[1]!.nack(true);
      await until(() => taken.length === 4);
      deepEqual(
        taken
          .slice(2)
          .map(({ content, isRedelivered }) => `${content} ${isRedelivered}`)
          .toSorted(),
        ['b true', 'c false'],
      );
    });

    it('is opened again when the broker closes it, and nothing else is disturbed', async () => {
      const other = publishTo('ex-c5');
      await other.ready(call);
      const before = other.current;
      const consumer = start({
        async open(channel, _link, lost) {
          const queue = await declareQueue(channel, { ...flags, name: 'c5', exchange: 'ex-c5', routingKeys: [] });
          const options = { queue, isExclusive: false, autoAck: false, prefetch: 0, log: silentLog };
          return subscribe(channel, options, () => {}, lost);
        },
      });
      const first = await consumer.ready(call);
      await admin.deleteQueue('c5');
      await until(() => consumer.current !== null && consumer.current !== first);
      equal((await admin.checkQueue('c5')).consumerCount, 1);
      equal(other.current, before);
      ok(lines.some((line) => line.includes('the broker has ended the consumer of "c5"')));
    });

    it('says which declaration the broker refuses, and needs no other connection for it', async () => {
      await admin.assertExchange('ex-c6', 'fanout', { durable: false });
      const other = publishTo('ex-c5');
      await other.ready(call);
      const publisher = publishTo('ex-c6');
      await rejects(publisher.ready(call), /connection not available, trying to reconnect/);
      match(lines.join('\n'), /declaration of exchange "ex-c6" failed: .*PRECONDITION_FAILED/);
      ok(other.current);
      await admin.deleteExchange('ex-c6');
      await until(() => publisher.current !== null);
    });

    it('says that a password is wrong, and not what it is', async () => {
      const { port } = broker().rabbit;
      await rejects(openLink(settings(`amqp://guest:s3cret@127.0.0.1:${port}/`), signal), ({ message }: Error) => {
        equal(message, 'the broker refuses the user name or the password');
        return true;
      });
      await rejects(
        openLink(settings(`amqp://guest:guest@127.0.0.1:${port}/none`), signal),
        /refuses the virtual host/,
      );
    });

    it('is encrypted where the address says so, for who the certificate is for', async () => {
      const { rabbit, authority } = broker();
      const ca = readFileSync(authority, 'utf8');
      const link = await openLink(settings(rabbit.tlsUrl, { ca }), signal);
      await link.close();
      await rejects(openLink(settings(rabbit.tlsUrl, {}), signal), /self-signed|unable to (?:get|verify)/);
    });

    it('reads no message that is too long, and the next one', async () => {
      const link = await openLink(settings(), signal);
      const channel = await link.model.createChannel();
      limitMessages(channel, 200_000);
      await channel.assertQueue('c7');
      const taken: string[] = [];
      await channel.consume('c7', (message) => {
        taken.push(`${message!.content.length} ${tooLong(message!) ?? ''}`);
        channel.ack(message!);
      });
      admin.sendToQueue('c7', Buffer.alloc(200_000));
      admin.sendToQueue('c7', Buffer.alloc(700_000));
      admin.sendToQueue('c7', Buffer.alloc(0));
      admin.sendToQueue('c7', Buffer.from('ok'));
      await until(() => taken.length === 4);
      deepEqual(taken, ['200000 ', '0 700000', '0 ', '2 ']);
      await link.close();
    });

    it('has the broker hold back what is done as soon as it is sent', async () => {
      const taken: Delivery[] = [];
      const consumer = start({
        async open(channel, _link, lost) {
          const queue = await declareQueue(channel, { ...flags, name: 'c8', exchange: 'ex-c8', routingKeys: [] });
          const options = { queue, isExclusive: false, autoAck: true, prefetch: 0, log: silentLog };
          return subscribe(channel, options, (delivery) => taken.push(delivery), lost);
        },
      });
      const subscription = await consumer.ready(call);
      const consumers = async () => (await admin.checkQueue('c8')).consumerCount;
      for (let count = 0; count < 1000; count++) admin.sendToQueue('c8', Buffer.from('x'));
      await until(async () => (await consumers()) === 0);
      admin.sendToQueue('c8', Buffer.from('last'));
      await until(async () => (await admin.checkQueue('c8')).messageCount === 1);
      equal(taken.length, 1000);
      for (const delivery of taken) delivery.ack();
      await until(() => taken.at(-1)!.content.toString() === 'last');
      equal(await consumers(), 1);
      await subscription.cancel();
      taken.at(-1)!.ack();
      equal(await consumers(), 0);
    });
  });
}
