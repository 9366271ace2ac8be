import { type AfterHook, after, type Call, type CallError, Reply, type Step, type Wrap } from '#contract';
import { afterHook, type BeforeHook, beforeHook } from '../contract/internal.ts';
import { waitsFor } from './held-calls.ts';
import type { HookGuard } from './hook-guard.ts';
import { beginHook, endHook } from './marks.ts';
import { PluginFault } from './plugin-fault.ts';
import { asSafeAs, leaving, refusing } from './refusing-step.ts';
import { isReply, isThenable, ReplyState } from './reply-state.ts';
import { RequestState } from './request-state.ts';
import { skipping } from './skipping-step.ts';

/**
 * Contains the faults of a wrap (a plugin's function around the next step of a request), so that they affect only the
 * requests in which they occur. The result is connected to its inner step once, like any other wrap.
 */
export function containedWrap<R extends object>(wrap: Wrap<R>, guard: HookGuard): Wrap<R> {
  const looksLast = afterHook(wrap);
  if (looksLast) return after(containedAfter(looksLast, guard));
  const looksFirst = beforeHook(wrap);
  if (looksFirst) return (next) => asSafeAs(next, containedBefore(looksFirst, next, guard));
  return (next) => (guard.skips ? skipping(wrap, next, guard) : refusing(wrap(leaving(next, guard)), guard));
}

/** Contains the faults of a hook that processes the reply. */
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
    const outer = beginHook(number);
    let pending: void | Promise<void>;
    try {
      pending = hook(reply, request, call);
    } catch (error) {
      return fail(error);
    } finally {
      endHook(outer);
    }
    if (!isThenable(pending)) return settle();
    const promise = Promise.resolve(pending);
    waitsFor(guard, promise, call);
    return promise.then(settle, fail);
  };
}

/** Contains the faults of a hook that processes the request: the inner step is called when the hook has ended. */
function containedBefore<R extends object>(hook: BeforeHook<R>, next: Step<R>, guard: HookGuard): Step<R> {
  const { record, number, skips } = guard;
  const goOn = (result: Reply | undefined | void, before: RequestState | null, request: R, call: Call) => {
    const isSound = result === undefined || result === null || isReply(result);
    if (!isSound) return refuse(guard.wrongType(result, 'a Reply or nothing'), before, request, call);
    guard.passed();
    return result ?? next(request, call);
  };
  const refuse = (failure: CallError, before: RequestState | null, request: R, call: Call) =>
    failure instanceof PluginFault && before?.restore() ? next(request, call) : Reply.failed(failure);
  return (request, call) => {
    if (record.suspension !== null) return skips ? next(request, call) : Reply.failed(guard.suspended);
    const before = skips ? new RequestState(request) : null;
    const outer = beginHook(number);
    let result: ReturnType<BeforeHook<R>>;
    let failure: CallError | null = null;
    try {
      result = hook(request, call);
    } catch (error) {
      failure = guard.judge(error);
    } finally {
      endHook(outer);
    }
    if (failure) return refuse(failure, before, request, call);
    if (!isThenable(result)) return goOn(result, before, request, call);
    const promise = Promise.resolve(result);
    waitsFor(guard, promise, call);
    return promise.then(
      (settled) => goOn(settled, before, request, call),
      (error) => refuse(guard.judge(error), before, request, call),
    );
  };
}
