import { atService, definePlugin } from '#contract';

/** Settings for replacing the serving configuration with a new one. */
export const plugin = definePlugin({
  name: 'admin/reload',
  description:
    'Configures how configuration changes are applied: draining of the old configuration, and the guard that rolls changes back.',
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
            description: 'Maximum time that open streams of a changed endpoint continue before they are ended.',
            default: '5m',
          },
          max_draining: {
            type: 'integer',
            minimum: 1,
            description:
              'Maximum number of replaced configurations that still serve requests. At this number, changes of watched files are postponed.',
            default: 8,
          },
          guard: {
            type: 'duration',
            description:
              'Guard period: time for which an applied file change is observed. The change is rolled back if endpoints fail more often or respond more slowly. 0s disables the guard.',
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
