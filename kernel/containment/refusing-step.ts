import { Reply, type Step } from '#contract';
import { waitsFor, waitsInside } from './held-calls.ts';
import { type HookGuard, noteOfOthers } from './hook-guard.ts';
import { beginHook, endHook } from './marks.ts';
import { isReply, isThenable } from './reply-state.ts';

/** Steps that return failures as replies: their promises never reject. */
const contained = new WeakSet<object>();

/** Wraps the inner step of a hook, whose time and errors are not attributed to the hook. */
export function leaving<R>(next: Step<R>, guard: HookGuard): Step<R> {
  const mayFail = !contained.has(next);
  // The watchdog recognizes the name of this function on the stack, and does not attribute time spent inside it to the
  // hook.
  return function leaveHook(request, call) {
    const outer = beginHook(0);
    try {
      const reply = next(request, call);
      if (!(reply instanceof Promise)) return reply;
      waitsInside(guard, reply, call);
      // Handles a rejection even if the hook does not await the promise; an unhandled rejection would end the process.
      if (mayFail) reply.then(undefined, noteOfOthers);
      return reply;
    } catch (error) {
      noteOfOthers(error);
      throw error;
    } finally {
      // A hook that awaited something before calling the inner step is no longer marked as running, so it is not blamed
      // for later blocking.
      endHook(outer);
    }
  };
}

/** Converts failures of a step into failed replies. */
export function refusing<R>(step: Step<R>, guard: HookGuard): Step<R> {
  const { record, number } = guard;
  const settle = (reply: Reply): Reply => {
    if (!isReply(reply)) return Reply.failed(guard.wrongType(reply, 'a Reply'));
    guard.passed();
    return reply;
  };
  const fail = (error: unknown): Reply => Reply.failed(guard.judge(error));
  const guarded: Step<R> = (request, call) => {
    if (record.suspension !== null) return Reply.failed(guard.suspended);
    const outer = beginHook(number);
    let reply: Reply | Promise<Reply>;
    try {
      reply = step(request, call);
    } catch (error) {
      return fail(error);
    } finally {
      endHook(outer);
    }
    if (!isThenable(reply)) return settle(reply);
    const pending = Promise.resolve<Reply>(reply);
    waitsFor(guard, pending, call);
    return pending.then(settle, fail);
  };
  contained.add(guarded);
  return guarded;
}

/** Marks a step that fails only if its inner step fails, so that it needs no containment of its own. */
export function asSafeAs<R>(inside: Step<R>, step: Step<R>): Step<R> {
  if (contained.has(inside)) contained.add(step);
  return step;
}
