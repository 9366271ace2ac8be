import { type Call, definePort, defineSlot, type Slot } from '#contract';

/** Told what an answer that streams has used up, such as tokens of a model: each time what has been added, as it passes. */
export type UsageListener = (added: number) => void;

const usageListeners: Slot<readonly UsageListener[]> = defineSlot('usage of a stream');

/** Offered at endpoints whose answers tell listeners what they have used up, whatever the output of the endpoint. */
export const reportsUsage = definePort<true>('responses that report their usage');

/** The call with one listener more: who answers within it tells all of them. */
export function listeningToUsage(call: Call, listener: UsageListener): Call {
  return call.with(usageListeners, [...(call.get(usageListeners) ?? []), listener]);
}

/** Who listens; none where nobody does, and then nothing need be counted. */
export function usageListenersOf(call: Call): readonly UsageListener[] {
  return call.get(usageListeners) ?? nobody;
}

const nobody: readonly UsageListener[] = Object.freeze([]);
