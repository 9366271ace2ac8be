import { type Call, definePort, defineSlot, type Slot } from '#contract';

/** Called with the usage that a streamed response adds, such as model tokens, as it passes. */
export type UsageListener = (added: number) => void;

const usageListeners: Slot<readonly UsageListener[]> = defineSlot('usage of a stream');

/** Marks components whose responses report their usage to listeners, regardless of the output encoding of the endpoint. */
export const reportsUsage = definePort<true>('responses that report their usage');

/** Creates a call with an additional listener: components that respond within it notify all listeners. */
export function listeningToUsage(call: Call, listener: UsageListener): Call {
  return call.with(usageListeners, [...(call.get(usageListeners) ?? []), listener]);
}

/** The listeners of a call; if empty, usage need not be counted. */
export function usageListenersOf(call: Call): readonly UsageListener[] {
  return call.get(usageListeners) ?? nobody;
}

const nobody: readonly UsageListener[] = Object.freeze([]);
