import type { Admin } from '../operation.ts';
import type { Metric } from './exposition.ts';

/** Returns the metrics of secrets from stores. */
export function secretMetrics({ gateway }: Pick<Admin, 'gateway'>): Metric[] {
  const { inUse, failing, counts } = gateway.secrets;
  return [
    {
      name: 'sluice_secrets',
      type: 'gauge',
      help: 'Number of secrets from stores that the active configuration refers to.',
      samples: [{ value: inUse }],
    },
    {
      name: 'sluice_secrets_failing',
      type: 'gauge',
      help: 'Number of secrets whose last fetch or renewal failed. The values in use stay.',
      samples: [{ value: failing.length }],
    },
    {
      name: 'sluice_secret_refreshes_total',
      type: 'counter',
      help: 'Number of attempts to fetch or renew secrets of the active configuration, by store and result.',
      samples: counts.map(({ scheme, result, count }) => ({ labels: { store: scheme, result }, value: count })),
    },
  ];
}
