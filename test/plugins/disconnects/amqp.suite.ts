import { equal } from 'node:assert/strict';
import type { Channel, ChannelModel } from 'amqplib';
import type { Broker } from '../clients/amqp/broker.test.ts';
import { type Case, DisconnectTestbed } from './testbed.ts';

/** `backend/amqp/*` with clients that disconnect. */
export function disconnectSuite(broker: () => Broker): void {
  describe('a client that disconnects during a call to RabbitMQ', () => {
    const testbed = new DisconnectTestbed();
    let own: ChannelModel;
    let admin: Channel;

    beforeEach(async () => {
      own = await broker().rabbit.connect();
      admin = await own.createChannel();
    });
    afterEach(async () => {
      await testbed.close();
      await own.close();
    });

    const backend = (component: string, config: object) => ({
      ...{ host: [broker().rabbit.url], disable_host_sanitize: true, url_pattern: '/' },
      extra_config: {
        [component]: { backoff_strategy: 'linear', ...config },
        'qos/circuit-breaker': { interval: 60, timeout: 60, max_errors: 1 },
      },
    });

    it('does not count as a failed publish', async () => {
      const producer = { name: 'left', exchange: 'left', routing_key: 'Route' };
      const given: Case = {
        endpoint: { method: 'POST', backend: [backend('backend/amqp/producer', producer)] },
        method: 'POST',
        payload: '{"a":1}',
      };
      await testbed.start(given);
      equal(await testbed.ask(given), 200);
      broker().rabbit.pause();
      try {
        for (let client = 0; client < 3; client++) await testbed.disconnect(given);
      } finally {
        broker().rabbit.resume();
      }
      testbed.blamesNobody();
      equal(await testbed.ask(given), 200);
      testbed.blamesNobody();
    });

    it('does not count as a failed consume, and loses no message', async () => {
      const consumer = { name: 'left-queue', exchange: 'left-messages', routing_key: ['#'] };
      const given: Case = { endpoint: { backend: [backend('backend/amqp/consumer', consumer)] } };
      await testbed.start(given);
      for (let client = 0; client < 3; client++) await testbed.disconnect(given);
      testbed.blamesNobody();
      await admin.checkQueue('left-queue');
      admin.publish('left-messages', 'a', Buffer.from('{"a":1}'));
      equal(await testbed.ask(given), 200);
      testbed.blamesNobody();
    });
  });
}
