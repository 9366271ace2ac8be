import type { HookGuard } from './hook-guard.ts';
import { beginHook, endHook } from './marks.ts';
import { isThenable } from './reply-state.ts';

export interface ContainedCallOptions<Args extends readonly unknown[], Value> {
  /** What is given in place of the hook's value where its faults are skipped, and it is suspended; null where nothing can be. */
  readonly instead: ((...args: Args) => Value) | null;
  /** Of the hook's values. Default: every one will do. */
  readonly isSound?: (value: unknown) => boolean;
  /** What is wanted, in words. */
  readonly wanted?: string;
  /** What the hook throws is its way to say that it cannot. */
  readonly mayThrow?: true;
}

/** A function that answers at once, contained. @throws PluginFault, PluginSuspended where nothing is given instead. */
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
      // What it promises is not waited for.
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
