import { atService, definePlugin } from '#contract';

/** Settings for replacing the serving configuration with a new one. */
export const plugin = definePlugin({
  name: 'admin/reload',
  description: 'Configures draining and guarding of configuration changes.',
  places: [
    atService(
      {
        type: 'object',
        title: 'Reload',
        examples: [{ drain_timeout: '1m', stream_drain: '10m' }],
        properties: {
          drain_timeout: {
            type: 'duration',
            description: 'Maximum time for requests of a replaced configuration to finish before they are aborted.',
            default: '30s',
          },
          stream_drain: {
            type: 'duration',
            description: 'Maximum time for streams of a changed endpoint to continue before they are ended.',
            default: '5m',
          },
          max_draining: {
            type: 'integer',
            minimum: 1,
            description:
              'Number of replaced configurations with unfinished requests at which changes of watched files are postponed.',
            default: 8,
          },
          guard: {
            type: 'duration',
            description:
              'Observation period of an applied file change, which is rolled back if endpoints fail more often or respond more slowly. 0s disables the guard.',
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
