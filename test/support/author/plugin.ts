import { createGateway } from 'sluice';
import { after, atEndpoint, atService, definePlugin, definePort, offer, type Schema } from 'sluice/plugin';
import { openHarness } from 'sluice/testing';

/** A plugin as written by an author who has installed only the package. */
const schema = {
  type: 'object',
  required: ['team'],
  properties: {
    team: { type: 'string', description: 'Who answers.' },
    patience: { type: 'duration', description: 'How long it may take.', default: '1s' },
  },
} as const satisfies Schema;

const directory = definePort<ReadonlyMap<string, string>>('acme directory');

export const plugin = definePlugin({
  name: 'acme/team',
  description: 'Tells which team answers.',
  offers: [directory],
  takes: [directory],
  places: [
    atEndpoint(schema, ({ config, take, setting }) => {
      const known = take(directory);
      const team: string = known?.get(config.team) ?? config.team;
      const patience: number = Math.min(config.patience, setting('timeout'));
      return {
        sets: ['X-Patience'],
        endpoint: after((reply) => reply.headers.set('X-Team', `${team} ${patience}`)),
      };
    }),
    atService({ type: 'object', properties: {} }, () => ({
      offers: [offer(directory, new Map([['a', 'Ada']]))],
      middleware: async (context, next) => {
        context.set('X-Path', context.path);
        await next();
      },
    })),
  ],
});

const gate = await openHarness(plugin, 'endpoint', { team: 'a' });
export const status: number = (await gate.send('GET /')).status;

const gateway = await createGateway({ version: 3, endpoints: [] }, { plugins: [plugin] });
export const port: number = (await gateway.listen()).port;
