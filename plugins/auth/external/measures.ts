import { type EndpointSite, meterOf } from '#contract';

/** Result of one decision. */
export type Result = 'accepted' | 'rejected' | 'failed' | 'cached';

/** Metrics of one endpoint. */
export interface Measures {
  /** Counts a decision, and records its duration unless it was cached. */
  readonly counted: (result: Result, startedAt: number) => void;
}

/** Metrics of an endpoint, recorded if an exporter is configured; null otherwise. */
export function measuresOf(site: EndpointSite<unknown>): Measures | null {
  const meter = meterOf(site);
  if (!meter) return null;
  const decisions = meter.counter('external_auth.decisions', { description: 'Decisions on requests.' });
  const duration = meter.histogram('external_auth.duration', {
    description: 'Duration of decisions that the cache did not answer.',
    unit: 's',
  });
  const { endpoint } = site.endpoint;
  return {
    counted(result, startedAt) {
      const labels = { endpoint, result };
      decisions.add(1, labels);
      if (result !== 'cached') duration.record((performance.now() - startedAt) / 1000, labels);
    },
  };
}
