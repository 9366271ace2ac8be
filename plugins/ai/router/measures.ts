import { type BackendSite, meterOf } from '#contract';
import { limitedWarning } from '../../shared/logging/limited-warning.ts';
import type { Candidate } from './candidate.ts';

/** Log and metrics of one router. */
export interface Measures {
  answered(candidate: Candidate, latencyMs: number): void;
  /** @param next the provider that is tried next; undefined if none is left. */
  failed(candidate: Candidate, reason: string, next: Candidate | undefined): void;
}

export function measuresOf(site: BackendSite<unknown>): Measures {
  const route = site.endpoint.endpoint;
  const meter = meterOf(site);
  const attempts = meter?.counter('ai.router.attempts', { description: 'Number of provider calls made by routers.' });
  const failovers = meter?.counter('ai.router.failovers', {
    description: 'Number of failovers: provider calls that follow the failure of another provider.',
  });
  const warn = limitedWarning(site.log, site.use('clock'));
  return {
    answered({ name, model }, latencyMs) {
      attempts?.add(1, { route, provider: name, result: 'answered' });
      site.log.debug(() => `[AI Router] provider "${name}" (${model}) answered after ${Math.round(latencyMs)} ms`);
    },
    failed({ name }, reason, next) {
      attempts?.add(1, { route, provider: name, result: 'failed' });
      if (next) failovers?.add(1, { route, provider: next.name, failed: name });
      const then = next ? `; trying "${next.name}"` : '; all providers have failed';
      warn(() => `[AI Router] provider "${name}" failed: ${reason}${then}`);
    },
  };
}
