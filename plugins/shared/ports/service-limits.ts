import { type Call, type ClientRequest, definePort, type Port, type Reply } from '#contract';

/** Counts a request; a reply means that it is rejected. */
export type CountRequest = (request: ClientRequest, call: Call) => Reply | undefined | Promise<Reply | undefined>;

/**
 * Limits of the whole service, for components that respond to requests without an endpoint, such as file servers.
 * Requests to endpoints need not be counted here, because the limits wrap all endpoints.
 */
export const serviceLimits: Port<CountRequest> = definePort('service limits');

/** Counts a request for several limits, until one rejects it. Null without limits. */
export function countingFor(limits: readonly CountRequest[]): CountRequest | null {
  if (limits.length === 0) return null;
  return async (request, call) => {
    for (const count of limits) {
      const refusal = await count(request, call);
      if (refusal) return refusal;
    }
    return undefined;
  };
}
