import type { Admin } from '../operation.ts';
import type { Metric } from './exposition.ts';

/** Returns the metrics of the store that the configuration is copied from; none without a store. */
export function storeMetrics({ gateway }: Pick<Admin, 'gateway'>): Metric[] {
  if (gateway.store === null) return [];
  const { state, readAt } = gateway.store.status;
  return [
    {
      name: 'sluice_config_store_current',
      type: 'gauge',
      help: 'Whether the configuration is the one in its store: 1, or 0 if the store cannot be read or has one that is not used.',
      samples: [{ value: state === 'current' ? 1 : 0 }],
    },
    {
      name: 'sluice_config_store_read_timestamp_seconds',
      type: 'gauge',
      help: 'Time at which the store of the configuration was last found to be current, in seconds since 1970.',
      samples: readAt === null ? [] : [{ value: readAt / 1000 }],
    },
  ];
}
