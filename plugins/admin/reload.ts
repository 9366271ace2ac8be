import { atService, definePlugin } from '#contract';

/** How a configuration takes the place of the one before it. */
export const plugin = definePlugin({
  name: 'admin/reload',
  description: 'Says how long requests and streams of a replaced configuration may go on.',
  places: [
    atService(
      {
        type: 'object',
        title: 'Reload',
        examples: [{ drain_timeout: '1m', stream_drain: '10m' }],
        properties: {
          drain_timeout: {
            type: 'duration',
            description: 'How long requests of a replaced configuration may go on before they are aborted.',
            default: '30s',
          },
          stream_drain: {
            type: 'duration',
            description: 'How long streams of an endpoint that has changed may go on before they are ended.',
            default: '5m',
          },
          max_draining: {
            type: 'integer',
            minimum: 1,
            description: 'Replaced configurations with requests left, at which changes of watched files wait.',
            default: 8,
          },
          guard: {
            type: 'duration',
            description:
              'How long a saved file that was applied is watched over, and taken back when endpoints fail more or answer later; 0s not to.',
            default: '0s',
            examples: ['60s'],
          },
        },
      },
      ({ config }) => ({
        reload: {
          drainMs: config.drain_timeout,
          streamDrainMs: config.stream_drain,
          maxDraining: config.max_draining,
          guardMs: config.guard,
        },
      }),
    ),
  ],
});
