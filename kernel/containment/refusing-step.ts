import { Reply, type Step } from '#contract';
import { type HookGuard, noteOfOthers } from './hook-guard.ts';
import { HOOK, marks, STEP } from './marks.ts';
import { isReply, isThenable } from './reply-state.ts';

/** Steps whose failures are replies: what they promise never fails. */
const contained = new WeakSet<object>();

/** What a hook wraps, which is not the hook's: neither its time nor what it throws. */
export function leaving<R>(next: Step<R>, { number }: HookGuard): Step<R> {
  const mayFail = !contained.has(next);
  // By this name the watchdog knows that what holds the loop is not the hook.
  return function leaveHook(request, call) {
    marks[HOOK] = 0;
    marks[STEP]! += 1;
    try {
      const reply = next(request, call);
      // Also hears it where the hook does not wait: what is late then ends nothing.
      if (mayFail && reply instanceof Promise) reply.then(undefined, noteOfOthers);
      return reply;
    } catch (error) {
      noteOfOthers(error);
      throw error;
    } finally {
      marks[HOOK] = number;
      marks[STEP]! += 1;
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
    const outer = marks[HOOK]!;
    marks[HOOK] = number;
    marks[STEP]! += 1;
    let reply: Reply | Promise<Reply>;
    try {
      reply = step(request, call);
    } catch (error) {
      return fail(error);
    } finally {
      marks[HOOK] = outer;
      marks[STEP]! += 1;
    }
    return isThenable(reply) ? Promise.resolve(reply).then(settle, fail) : settle(reply);
  };
  contained.add(guarded);
  return guarded;
}
