import { equal } from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { atEndpoint, definePlugin, HeaderBag, Reply } from '#contract';
import { until } from '../../support/conditions.ts';
import { startWith } from '../../support/plugged.ts';

describe('a connection whose client half-closes before the protocol switch', () => {
  it('is closed, and its component is notified', async () => {
    const closed = Promise.withResolvers<void>();
    const late = definePlugin({
      name: 'test/late',
      description: 'Switches once the client has ended its side.',
      places: [
        atEndpoint({ type: 'object', properties: {} }, () => ({
          upgrades: ['shout'],
          proxy: () => async (request) => {
            const { socket } = request.client.raw!.request;
            await until(() => socket.readableEnded);
            const take = (connection: Duplex): void => {
              connection.once('close', () => closed.resolve());
              connection.write('hello');
            };
            return Reply.upgraded({ take, end: () => {} }, new HeaderBag());
          },
        })),
      ],
    });
    const gateway = await startWith([late], {
      version: 3,
      endpoints: [
        {
          endpoint: '/late',
          extra_config: { 'test/late': {} },
          backend: [{ url_pattern: '/', host: ['http://127.0.0.1:1'] }],
        },
      ],
    });
    try {
      const { port } = await gateway.listen();
      const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
      client.end('GET /late HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n');
      const left = once(client.resume(), 'close');
      await closed.promise;
      await left;
      await until(() => gateway.status.streams === 0);
      equal(gateway.status.calls, 0);
    } finally {
      await gateway.close();
    }
  });
});
