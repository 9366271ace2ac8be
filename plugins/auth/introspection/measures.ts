import { type EndpointSite, meterOf } from '#contract';
import { type Measure, measure } from '../lib/measure.ts';

/** Measures the introspections of an endpoint, if an exporter is configured. */
export function measureOf(site: EndpointSite<unknown>): Measure<'active' | 'inactive' | 'failed'> | null {
  const meter = meterOf(site);
  if (!meter) return null;
  const tokens = meter.counter('introspection.tokens', { description: 'Number of tokens that were checked.' });
  const duration = meter.histogram('introspection.duration', {
    description: 'Duration of introspections whose result was not in the cache.',
    unit: 's',
  });
  return measure(site, tokens, duration, ['active', 'inactive', 'failed']);
}
