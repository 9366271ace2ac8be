import { PARSED_LIMIT_BYTES } from '../contract/internal.ts';

/** Limits of an endpoint's request bodies. */
export interface PayloadLimits {
  /** Longest request body in bytes; 0 for no limit. */
  readonly maxPayloadBytes: number;
  /** Longest request body that a component parses, in bytes; 0 for no limit but `maxPayloadBytes`. */
  readonly maxParsedBytes: number;
}

/**
 * The smallest of the limits that are set.
 * @param maxPayload of the router; undefined where the configuration does not set it.
 * @param others limits of components; 0 for none.
 */
export function payloadLimits(maxPayload: number | undefined, others: readonly number[]): PayloadLimits {
  const maxPayloadBytes = [maxPayload ?? 0, ...others].reduce(smallerLimit, 0);
  return { maxPayloadBytes, maxParsedBytes: parsedLimit(maxPayload, maxPayloadBytes) };
}

/** A configuration that sets a limit, or 0 for none, has decided for bodies that are parsed, too. */
export function parsedLimit(maxPayload: number | undefined, maxPayloadBytes: number): number {
  return maxPayload !== undefined || maxPayloadBytes > 0 ? 0 : PARSED_LIMIT_BYTES;
}

/** Of two limits the smaller one; 0 stands for no limit. */
function smallerLimit(one: number, other: number): number {
  return one > 0 && other > 0 ? Math.min(one, other) : Math.max(one, other);
}
