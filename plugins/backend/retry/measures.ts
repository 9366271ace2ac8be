import { type BackendSite, meterOf } from '#contract';
import type { Reason } from './reason.ts';

/** Result of a request that met a condition for a retry: the last attempt's result, or the reason why no further attempt was made. */
export type Result = 'success' | 'failure' | 'attempts' | 'method' | 'body' | 'retry_after' | 'deadline' | 'budget';

/** Metrics of one backend's retries. */
export interface Measures {
  retried(reason: Reason): void;
  ended(result: Result): void;
}

const unmeasured: Measures = { retried() {}, ended() {} };

export function measuresOf(site: BackendSite<unknown>): Measures {
  const meter = meterOf(site);
  if (!meter) return unmeasured;
  const { endpoint, backend } = site;
  const place = { route: endpoint.endpoint, backend: `${backend.method} ${backend.url_pattern}` };
  const retries = meter.counter('backend.retries', { description: 'Number of attempts after the first one.' });
  const results = meter.counter('backend.retry.results', {
    description: 'Number of backend requests that met a condition for a retry.',
  });
  return {
    retried: (reason) => retries.add(1, { ...place, reason }),
    ended: (result) => results.add(1, { ...place, result }),
  };
}
