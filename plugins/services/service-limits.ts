import { type Call, type ClientRequest, definePort, type Port, type Reply } from '#contract';

/** Counts a request; a reply is a refusal. */
export type CountRequest = (request: ClientRequest, call: Call) => Reply | undefined | Promise<Reply | undefined>;

/**
 * Limits of the whole service stand around endpoints, and offer here what they do. Who answers requests that no endpoint is for,
 * as with files, has them counted so.
 */
export const serviceLimits: Port<CountRequest> = definePort('service limits');

/** Counts a request for several limits, until one refuses it. Null for none. */
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
