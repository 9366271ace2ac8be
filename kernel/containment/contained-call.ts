import type { HookGuard } from './hook-guard.ts';
import { beginHook, endHook } from './marks.ts';
import { isThenable } from './reply-state.ts';

export interface ContainedCallOptions<Args extends readonly unknown[], Value> {
  /** Value to use instead of the hook's when its faults are skipped, and while it is suspended; null without one. */
  readonly instead: ((...args: Args) => Value) | null;
  /** Validates the hook's values. Default: all are valid. */
  readonly isSound?: (value: unknown) => boolean;
  /** Description of the expected value. */
  readonly wanted?: string;
  /** Whether an error that the hook throws only means that its input is invalid, which is not a fault of the plugin. */
  readonly mayThrow?: true;
}

/** Wraps a synchronous function of a plugin, so that its faults are contained. @throws PluginFault, PluginSuspended without a substitute. */
export function containedCall<Args extends readonly unknown[], Value>(
  hook: (...args: Args) => Value,
  guard: HookGuard,
  { instead, isSound, wanted = 'nothing', mayThrow }: ContainedCallOptions<Args, Value>,
): (...args: Args) => Value {
  const { record, number } = guard;
  return (...args) => {
    if (record.suspension !== null) {
      if (instead) return instead(...args);
      throw guard.suspended;
    }
    const outer = beginHook(number);
    let failure: unknown;
    try {
      const value = hook(...args);
      const isLate = isThenable(value);
      if (!isLate && (!isSound || isSound(value))) {
        guard.passed();
        return value;
      }
      // The hook is synchronous: if it returns a promise, the promise is not awaited and its rejection is ignored.
      if (isLate) Promise.resolve(value).catch(() => {});
      failure = guard.wrongType(value, wanted);
    } catch (error) {
      if (mayThrow) throw error;
      failure = guard.judge(error);
    } finally {
      endHook(outer);
    }
    if (instead) return instead(...args);
    throw failure;
  };
}
