import { type AtService, before, offer } from '#contract';
import { lacksParam } from '../../shared/parameters/declared.ts';
import { serviceLimits } from '../../shared/ports/service-limits.ts';
import type { RequestLimit } from './request-limit.ts';

/** Applies a limit to all endpoints. Requests without an endpoint have no path variables. */
export function overService(limit: RequestLimit | null, config: Parameters<typeof lacksParam>[1]): AtService {
  if (!limit) return {};
  const hookOf = (path: string) => (lacksParam(path, config) ? limit.admitAll : limit.admit);
  const ofOthers = hookOf('');
  return {
    offers: ofOthers ? [offer(serviceLimits, ofOthers)] : [],
    eachEndpoint: ({ endpoint }) => {
      const hook = hookOf(endpoint.endpoint);
      return hook ? { endpoint: before(hook), ...(limit.state && { state: limit.state }) } : {};
    },
  };
}
