import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Channel, ChannelModel } from 'amqplib';
import { Call } from '#contract';
import { silentLog } from '../../../../kernel/contract/log.ts';
import { DeniedAddresses } from '../../../../kernel/net/denied-addresses.ts';
import { readAmqpAddress } from '../../../../plugins/clients/amqp/address.ts';
import { type ChannelUse, keptChannel, type OpenChannel } from '../../../../plugins/clients/amqp/channel.ts';
import { AmqpConnection } from '../../../../plugins/clients/amqp/connection.ts';
import { openLink } from '../../../../plugins/clients/amqp/link.ts';
import { limitMessages, tooLong } from '../../../../plugins/clients/amqp/message-limit.ts';
import { Publisher } from '../../../../plugins/clients/amqp/publisher.ts';
import { type Delivery, type SubscriptionOptions, subscribe } from '../../../../plugins/clients/amqp/subscription.ts';
import { declareExchange, declareQueue } from '../../../../plugins/clients/amqp/topology.ts';
import type { KeptLink } from '../../../../plugins/clients/broker/kept-link.ts';
import { until } from '../../../support/conditions.ts';
import type { Broker } from './broker.test.ts';

const flags = { durable: false, delete: false, exclusive: false };

/** Tests of the channel that all AMQP components use. */
export function channelSuite(broker: () => Broker): void {
  describe('an AMQP channel', () => {
    let connection: AmqpConnection;
    let own: ChannelModel;
    let admin: Channel;
    let call: Call;
    let channels: KeptLink<OpenChannel<unknown>>[];
    let lines: string[];

    const settings = (url = broker().rabbit.url, tls: object | null = null) => ({
      address: readAmqpAddress(url),
      tls: tls && { secureContext: createSecureContext(tls), rejectUnauthorized: true },
      denied: new DeniedAddresses(),
    });
    const { signal } = new AbortController();
    const note = (line: string | (() => string)) => void lines.push(String(line));
    const start = <T>(use: ChannelUse<T>, maxRetries = 0): KeptLink<OpenChannel<T>> => {
      const log = { ...silentLog, error: note, info: note } as typeof silentLog;
      const reconnection = { maxRetries, strategy: 'linear' } as const;
      const channel = keptChannel(connection, use);
      channels.push(channel);
      channel.open(log, reconnection);
      return channel;
    };
    /** @param declared settings of the queue, which is named like its exchange. */
    const consume = (
      name: string,
      taken: Delivery[],
      options: Partial<SubscriptionOptions> = {},
      declared: object = {},
    ) =>
      start({
        async open(channel, _link, lost) {
          const declaration = { ...flags, ...declared, name, exchange: `ex-${name}`, routingKeys: ['#'] };
          const queue = await declareQueue(channel, declaration);
          const standard = {
            queue,
            isExclusive: false,
            isAutoDelete: false,
            autoAck: false,
            prefetch: 0,
            log: silentLog,
          };
          return subscribe(channel, { ...standard, ...options }, (delivery) => taken.push(delivery), lost);
        },
      });
    const publishTo = (exchange: string, isMandatory = false) =>
      start({
        async open(channel, link) {
          await declareExchange(channel, exchange, flags);
          return new Publisher(channel, link, exchange, isMandatory);
        },
      });
    const send = async (channel: KeptLink<OpenChannel<Publisher>>, routingKey: string, text: string) => {
      const { value: publisher } = await channel.current(call);
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

    it("publishes a message and waits for the broker's confirmation", async () => {
      await admin.assertQueue('c1');
      const publisher = publishTo('ex-c1');
      await publisher.current(call);
      await admin.bindQueue('c1', 'ex-c1', 'a.*');
      await send(publisher, 'a.b', 'hello');
      equal(((await admin.get('c1', { noAck: true })) as { content: Buffer }).content.toString(), 'hello');
    });

    it('reports which of several messages could not be routed', async () => {
      const publisher = publishTo('ex-c2', true);
      await publisher.current(call);
      await admin.assertQueue('c2');
      await admin.bindQueue('c2', 'ex-c2', 'good');
      const sent = Array.from({ length: 50 }, (_, index) => send(publisher, index % 3 === 0 ? 'bad' : 'good', 'same'));
      const settled = await Promise.allSettled(sent);
      deepEqual(
        settled.map(({ status }) => status),
        sent.map((_, index) => (index % 3 === 0 ? 'rejected' : 'fulfilled')),
      );
      await rejects(send(publisher, 'bad', 'x'), /no queue is bound/);
    });

    it('rejects a message that cannot be serialized, and continues', async () => {
      const publisher = publishTo('ex-c3');
      await rejects(send(publisher, 'k'.repeat(256), 'x'), /cannot be sent: .*255/);
      await send(publisher, 'k', 'x');
    });

    it('consumes messages, and receives a message again that was not acknowledged', async () => {
      const taken: Delivery[] = [];
      const consumer = consume('c4', taken, { prefetch: 2 });
      await consumer.current(call);
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

    it('is reopened after the broker closes it, without affecting other channels', async () => {
      const other = publishTo('ex-c5');
      await other.current(call);
      const before = other.opened?.value;
      const consumer = consume('c5', []);
      const { value: first } = await consumer.current(call);
      await admin.deleteQueue('c5');
      await until(() => consumer.opened !== null && consumer.opened.value !== first);
      equal((await admin.checkQueue('c5')).consumerCount, 1);
      equal(other.opened?.value, before);
      ok(lines.some((line) => line.includes('the broker has canceled the consumer of "c5"')));
    });

    it('reports the declaration that the broker rejects, without opening another connection', async () => {
      await admin.assertExchange('ex-c6', 'fanout', { durable: false });
      const other = publishTo('ex-c5');
      await other.current(call);
      const publisher = publishTo('ex-c6');
      await rejects(async () => publisher.current(call), /connection not available, trying to reconnect/);
      match(lines.join('\n'), /declaration of exchange "ex-c6" failed: .*PRECONDITION_FAILED/);
      ok(other.opened);
      await admin.deleteExchange('ex-c6');
      await until(() => publisher.opened !== null);
    });

    it('reports a wrong password without showing it', async () => {
      const { port } = broker().rabbit;
      await rejects(openLink(settings(`amqp://guest:s3cret@127.0.0.1:${port}/`), signal), ({ message }: Error) => {
        equal(message, 'the broker rejects the user name or the password');
        return true;
      });
      await rejects(
        openLink(settings(`amqp://guest:guest@127.0.0.1:${port}/none`), signal),
        /rejects the virtual host/,
      );
    });

    it("uses TLS for amqps URLs and verifies the broker's certificate", async () => {
      const { rabbit, authority } = broker();
      const ca = readFileSync(authority, 'utf8');
      const link = await openLink(settings(rabbit.tlsUrl, { ca }), signal);
      await link.close();
      await rejects(openLink(settings(rabbit.tlsUrl, {}), signal), /self-signed|unable to (?:get|verify)/);
    });

    it('skips an oversized message and reads the next one', async () => {
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

    it('buffers at most 64 MiB plus one message, and acknowledges or rejects each message once', async () => {
      const taken: Delivery[] = [];
      const consumer = consume('c9', taken);
      await consumer.current(call);
      const body = (at: number) => Buffer.alloc(8 * 1024 * 1024, at + 1);
      for (let at = 0; at < 20; at++) admin.sendToQueue('c9', body(at));
      await until(async () => (await admin.checkQueue('c9')).messageCount === 11);
      equal((await admin.checkQueue('c9')).consumerCount, 0);
      equal(taken.length, 9);
      const done = new Set<number>();
      for (let count = 0; count < 20; count++) {
        await until(() => taken.length > 0);
        const delivery = taken.shift()!;
        done.add(delivery.content[0]!);
        delivery.ack();
      }
      equal(done.size, 20);
      await until(async () => (await admin.checkQueue('c9')).messageCount === 0);
      equal(taken.length, 0);
    });

    it('drops and counts excess messages of an auto-delete queue', async () => {
      const taken: Delivery[] = [];
      let discarded = 0;
      const dropping = { isAutoDelete: true, autoAck: true, discarded: () => void discarded++ };
      const consumer = consume('c10', taken, dropping, { delete: true });
      const { value } = await consumer.current(call);
      for (let count = 0; count < 1010; count++) admin.sendToQueue('c10', Buffer.from('x'));
      await until(() => discarded === 10);
      equal(taken.length, 1000);
      taken[0]!.ack();
      admin.sendToQueue('c10', Buffer.from('last'));
      await until(() => taken.at(-1)!.content.toString() === 'last');
      equal(consumer.opened?.value, value);
    });

    it('stops the broker from sending auto-acknowledged messages while its buffer is full', async () => {
      const taken: Delivery[] = [];
      const consumer = consume('c8', taken, { autoAck: true });
      const { value: subscription } = await consumer.current(call);
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
