import { type Call, defineSlot, type Slot } from '#contract';

/** Tokens that one model call has used. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
}

/** Token usage and cost of one model call. */
export interface ModelUsage extends Tokens {
  /** Cost by the price of the model; undefined if it has none. */
  readonly cost: number | undefined;
}

/**
 * Called once for each model call that has used tokens: with the numbers of the vendor, or with estimates for a
 * response that ended early. For streams, at their end. Null for a call that the client or a deadline ended before the response:
 * vendors finish such calls, so it can have used as much as it may.
 */
export type ModelUsageListener = (usage: ModelUsage | null) => void;

const listeners: Slot<readonly ModelUsageListener[]> = defineSlot('usage of models');

/** Creates a call with an additional listener. */
export function listeningToModels(call: Call, listener: ModelUsageListener): Call {
  return call.with(listeners, [...(call.get(listeners) ?? []), listener]);
}

/** The listeners of a call; if empty, usage need not be determined. */
export function modelListenersOf(call: Call): readonly ModelUsageListener[] {
  return call.get(listeners) ?? nobody;
}

const nobody: readonly ModelUsageListener[] = Object.freeze([]);

/** Maximum number of output tokens that a model may generate in a call, set by a budget. */
export const outputLimit: Slot<number> = defineSlot('output limit of models');
