import { type EndpointSite, meterOf } from '#contract';
import { type Measure, measure } from '../lib/measure.ts';

/** Measures the decisions of an endpoint, if an exporter is configured. */
export function measureOf(site: EndpointSite<unknown>): Measure<'accepted' | 'rejected' | 'failed'> | null {
  const meter = meterOf(site);
  if (!meter) return null;
  const decisions = meter.counter('external_auth.decisions', {
    description:
      'Number of requests that the authorization server allowed or denied, including cached decisions, or on which it failed to decide.',
  });
  const duration = meter.histogram('external_auth.duration', {
    description: 'Duration of calls to the authorization server.',
    unit: 's',
  });
  return measure(site, decisions, duration, ['accepted', 'rejected', 'failed']);
}
