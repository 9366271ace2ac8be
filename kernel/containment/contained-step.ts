import { type AfterHook, after, type Wrap } from '#contract';
import { afterHook } from '../contract/internal.ts';
import type { HookGuard } from './hook-guard.ts';
import { HOOK, marks, STEP } from './marks.ts';
import { leaving, refusing } from './refusing-step.ts';
import { isThenable, ReplyState } from './reply-state.ts';
import { skipping } from './skipping-step.ts';

/** A wrap whose faults concern its own requests only. Folded once, like any other. */
export function containedWrap<R extends object>(wrap: Wrap<R>, guard: HookGuard): Wrap<R> {
  const hook = afterHook(wrap);
  if (hook) return after(containedAfter(hook, guard));
  return (next) => (guard.skips ? skipping(wrap, next, guard) : refusing(wrap(leaving(next, guard)), guard));
}

/** A hook that looks at the reply. */
function containedAfter<R>(hook: AfterHook<R>, guard: HookGuard): AfterHook<R> {
  const { record, number, skips } = guard;
  const settle = (): void => guard.passed();
  return (reply, request, call) => {
    if (record.suspension !== null) {
      if (skips) return;
      throw guard.suspended;
    }
    const before = skips ? new ReplyState(reply) : null;
    const fail = (error: unknown): void => {
      const failure = guard.judge(error);
      if (!before?.restore()) throw failure;
    };
    const outer = marks[HOOK]!;
    marks[HOOK] = number;
    marks[STEP]! += 1;
    let pending: void | Promise<void>;
    try {
      pending = hook(reply, request, call);
    } catch (error) {
      return fail(error);
    } finally {
      marks[HOOK] = outer;
      marks[STEP]! += 1;
    }
    if (isThenable(pending)) return Promise.resolve(pending).then(settle, fail);
    settle();
  };
}
