import { type EndpointSite, meterOf } from '#contract';

/** Result of one introspection. */
export type Result = 'active' | 'inactive' | 'failed' | 'cached';

/** Metrics of one endpoint. */
export interface Measures {
  /** Counts a token, and records the time of its introspection unless the answer was cached. */
  readonly counted: (result: Result, startedAt: number) => void;
}

/** Metrics of an endpoint, recorded if an exporter is configured; null otherwise. */
export function measuresOf(site: EndpointSite<unknown>): Measures | null {
  const meter = meterOf(site);
  if (!meter) return null;
  const tokens = meter.counter('introspection.tokens', { description: 'Tokens of requests.' });
  const duration = meter.histogram('introspection.duration', {
    description: 'Duration of introspections that the cache did not answer.',
    unit: 's',
  });
  const labels = (result: Result) => ({ endpoint: site.endpoint.endpoint, result });
  const of = {
    active: labels('active'),
    inactive: labels('inactive'),
    failed: labels('failed'),
    cached: labels('cached'),
  };
  return {
    counted(result, startedAt) {
      tokens.add(1, of[result]);
      if (result !== 'cached') duration.record((performance.now() - startedAt) / 1000, of[result]);
    },
  };
}
