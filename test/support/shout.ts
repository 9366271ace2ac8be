import type { Duplex } from 'node:stream';
import { atEndpoint, definePlugin, HeaderBag, Reply } from '#contract';

/** Switches to the protocol `shout`, which reports its process, responds in capital letters and sends a goodbye. */
export const shout = definePlugin({
  name: 'test/shout',
  description: 'Answers in capitals.',
  places: [
    atEndpoint({ type: 'object', properties: {} }, () => ({
      upgrades: ['shout'],
      proxy: () => async () => {
        let connection: Duplex;
        const take = (given: Duplex): void => {
          connection = given;
          connection.write(`hello from ${process.pid}\n`);
          connection.on('data', (bytes) => void connection.write(String(bytes).toUpperCase()));
        };
        return Reply.upgraded({ take, end: () => void connection.end('bye\n') }, new HeaderBag());
      },
    })),
  ],
});
