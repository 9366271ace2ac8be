import { PARSED_LIMIT_BYTES } from '../../contract/internal.ts';

/** Limits of an endpoint's request bodies. */
export interface PayloadLimits {
  /** Largest request body in bytes; 0 for no limit. */
  readonly maxPayloadBytes: number;
  /** Largest request body that a component parses, in bytes; 0 for no limit other than `maxPayloadBytes`. */
  readonly maxParsedBytes: number;
}

/**
 * Returns the smallest of the limits that are set.
 * @param maxPayload limit of the router; undefined when not configured.
 * @param others limits of components; 0 for none.
 */
export function payloadLimits(maxPayload: number | undefined, others: readonly number[]): PayloadLimits {
  const maxPayloadBytes = [maxPayload ?? 0, ...others].reduce(smallerLimit, 0);
  return { maxPayloadBytes, maxParsedBytes: parsedLimit(maxPayload, maxPayloadBytes) };
}

/** Returns the limit for parsed bodies. A configured limit, or 0 for none, also applies to them. */
export function parsedLimit(maxPayload: number | undefined, maxPayloadBytes: number): number {
  return maxPayload !== undefined || maxPayloadBytes > 0 ? 0 : PARSED_LIMIT_BYTES;
}

/** Returns the smaller of two limits; 0 means no limit. */
function smallerLimit(one: number, other: number): number {
  return one > 0 && other > 0 ? Math.min(one, other) : Math.max(one, other);
}
