import type { Schema } from '#contract';

/** Fields of every store that is reached over the network. */
export const storeFields = {
  timeout: { type: 'duration', description: 'Timeout of each request to the store.', default: '5s' },
  startup_timeout: {
    type: 'duration',
    description:
      'Time for which a starting gateway retries while the store cannot be reached. Afterwards the start fails.',
    default: '30s',
  },
} as const satisfies Record<string, Schema>;
