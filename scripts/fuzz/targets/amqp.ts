import { CallError } from '#contract';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { DeniedAddresses } from '../../../kernel/net/denied-addresses.ts';
import { readAmqpAddress } from '../../../plugins/clients/amqp/address.ts';
import { AmqpError } from '../../../plugins/clients/amqp/amqp-error.ts';
import { keptChannel } from '../../../plugins/clients/amqp/channel.ts';
import { AmqpConnection } from '../../../plugins/clients/amqp/connection.ts';
import { Publisher } from '../../../plugins/clients/amqp/publisher.ts';
import { amqpDialect } from '../dialects.ts';
import { askOnce, hostileTarget } from '../hostile-target.ts';

/** A misbehaving AMQP 0-9-1 broker. */
export const amqp = hostileTarget({
  name: 'amqp',
  dialect: amqpDialect,
  rooms: ['plugins/clients/amqp/'],
  deadlineMs: 300,
  recoveryMs: 15_000,
  drive(port) {
    const address = readAmqpAddress(`amqp://a:b@127.0.0.1:${port}/?connection_timeout=300`);
    const connection = new AmqpConnection({ address, tls: null, denied: new DeniedAddresses() });
    const kept = keptChannel(connection, {
      open: async (channel, link) => {
        await channel.assertExchange('a', 'topic');
        return new Publisher(channel, link, 'a', false);
      },
    });
    kept.open(silentLog, { maxRetries: 0, strategy: 'linear' });
    return {
      ask: () =>
        askOnce(
          async (call) => {
            const { value } = await kept.current(call);
            await value.publish({ routingKey: 'a', content: Buffer.from('x'), properties: {} }, call);
          },
          AmqpError,
          CallError,
        ),
      async close() {
        await Promise.all([kept.close(), connection.close()]);
      },
    };
  },
});
