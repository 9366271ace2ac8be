import { Reply, type Step } from '#contract';
import { waitsFor, waitsInside } from './held-calls.ts';
import { type HookGuard, noteOfOthers } from './hook-guard.ts';
import { beginHook, endHook } from './marks.ts';
import { isReply, isThenable } from './reply-state.ts';

/** Steps whose failures are replies: what they promise never fails. */
const contained = new WeakSet<object>();

/** What a hook wraps, which is not the hook's: neither its time nor what it throws. */
export function leaving<R>(next: Step<R>, guard: HookGuard): Step<R> {
  const mayFail = !contained.has(next);
  // By this name the watchdog knows that what holds the loop is not the hook.
  return function leaveHook(request, call) {
    const outer = beginHook(0);
    try {
      const reply = next(request, call);
      if (!(reply instanceof Promise)) return reply;
      waitsInside(guard, reply, call);
      // Also hears it where the hook does not wait: what is late then ends nothing.
      if (mayFail) reply.then(undefined, noteOfOthers);
      return reply;
    } catch (error) {
      noteOfOthers(error);
      throw error;
    } finally {
      // Of a hook that had waited before it went on, nothing runs: whatever else holds the loop is not its doing.
      endHook(outer);
    }
  };
}

/** A failure of the step is a failed reply. */
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

/** A step that fails only where the one inside does. */
export function asSafeAs<R>(inside: Step<R>, step: Step<R>): Step<R> {
  if (contained.has(inside)) contained.add(step);
  return step;
}
