import { deepEqual, equal, ok } from 'node:assert/strict';
import { Call } from '#contract';
import { silentLog } from '../../../../kernel/contract/log.ts';
import { DeniedAddresses } from '../../../../kernel/net/denied-addresses.ts';
import { readAmqpAddress } from '../../../../plugins/clients/amqp/address.ts';
import { openLink } from '../../../../plugins/clients/amqp/link.ts';
import { Publisher } from '../../../../plugins/clients/amqp/publisher.ts';
import { amqpDialect } from '../../../../scripts/fuzz/dialects.ts';
import { startHostile } from '../../../../scripts/fuzz/hostile.ts';

describe('confirmations from an AMQP broker', () => {
  const settings = (port: number) => ({
    address: readAmqpAddress(`amqp://a:b@127.0.0.1:${port}/`),
    tls: null,
    denied: new DeniedAddresses(),
  });
  const message = { routingKey: 'a', content: Buffer.from('x'), properties: {} };

  for (const multiple of ['00', '01']) {
    it(`close the connection if they refer to a message that was never sent (multiple: ${multiple})`, async () => {
      const broker = await startHostile(amqpDialect);
      const link = await openLink(settings(broker.port), new AbortController().signal);
      const call = new Call(silentLog, 5_000);
      try {
        const channel = await link.model.createConfirmChannel();
        const publisher = new Publisher(channel, link, 'a', false);
        const errors: string[] = [];
        channel.on('error', () => {});
        link.model.on('error', (error) => errors.push(error.message));
        const closed = new Promise((resolve) => link.model.once('close', resolve));
        await publisher.publish(message, call);
        // The next message of the server is a confirmation; its tag is changed to 0x11000002.
        broker.distort([{ at: 0, act: 'edit', offset: 15, length: 5, put: `11000002${multiple}` }]);
        const before = process.threadCpuUsage().user;
        const published = publisher.publish(message, call).then(
          () => 'confirmed',
          () => 'failed',
        );
        await closed;
        equal(await published, 'failed');
        ok(process.threadCpuUsage().user - before < 1_000_000, 'the event loop is held');
        deepEqual(errors, ['the broker confirmed unknown delivery tag 285212674; messages sent: 2']);
      } finally {
        call.finish();
        await broker.close();
      }
    });
  }
});
