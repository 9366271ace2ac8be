import { type Call, Reply, type Step, toCallError, type Wrap } from '#contract';
import { waitsFor } from './held-calls.ts';
import type { HookGuard } from './hook-guard.ts';
import { beginHook, endHook } from './marks.ts';
import { PluginFault } from './plugin-fault.ts';
import { leaving, refusing } from './refusing-step.ts';
import { isReply, isThenable, ReplyState } from './reply-state.ts';
import { RequestState } from './request-state.ts';

/**
 * Skips a wrap (a plugin's function around the next step of a request) when it fails. If it had not called its inner
 * step, the inner step is called with the original request; otherwise the original reply of the inner step is returned.
 * Both are impossible when the hook has consumed the streamed body of a request or a reply. The request then fails, as
 * without skipping.
 */
export function skipping<R extends object>(wrap: Wrap<R>, next: Step<R>, guard: HookGuard): Step<R> {
  const { record, number } = guard;
  const passes = new Passes<R>();
  const inside = leaving(next, guard);
  const step = wrap((request, call) => {
    const pass = passes.of(call);
    const reply = inside(request, call);
    pass?.goneOn(reply);
    return reply;
  });
  const refused = refusing(step, guard);
  return (request, call) => {
    if (record.suspension !== null) return next(request, call);
    // The same call is inside the hook more than once, so its replies cannot be attributed to one of them.
    if (passes.has(call)) return refused(request, call);
    const pass = new Pass(request, call, next, guard);
    const outer = passes.current;
    passes.current = pass;
    const ran = beginHook(number);
    let reply: Reply | Promise<Reply>;
    try {
      reply = step(request, call);
    } catch (error) {
      return pass.fail(error);
    } finally {
      passes.current = outer;
      endHook(ran);
    }
    if (!isThenable(reply)) return pass.settle(reply);
    passes.waiting.set(call, pass);
    const pending = Promise.resolve<Reply>(reply);
    waitsFor(guard, pending, call);
    return pending.then(
      (settled) => {
        passes.waiting.delete(call);
        return pass.settle(settled);
      },
      (error) => {
        passes.waiting.delete(call);
        return pass.fail(error);
      },
    );
  };
}

/** Requests inside a hook: the one whose hook runs now, and those whose hooks wait. */
class Passes<R extends object> {
  current: Pass<R> | null = null;
  readonly waiting = new Map<Call, Pass<R>>();

  has(call: Call): boolean {
    return this.current?.call === call || (this.waiting.size > 0 && this.waiting.has(call));
  }

  /** Returns the pass of a call, also if the hook used only a part of the call. */
  of(call: Call): Pass<R> | undefined {
    for (let at: Call | null = call; at; at = at.outer) {
      if (this.current?.call === at) return this.current;
      const pass = this.waiting.size > 0 ? this.waiting.get(at) : undefined;
      if (pass) return pass;
    }
    return undefined;
  }
}

/** One request inside a hook, with the state needed to continue without the hook. */
class Pass<R extends object> {
  readonly call: Call;
  readonly #request: R;
  readonly #next: Step<R>;
  readonly #guard: HookGuard;
  readonly #before: RequestState;
  #reply: Reply | Promise<Reply> | null = null;
  #state: ReplyState | null = null;

  constructor(request: R, call: Call, next: Step<R>, guard: HookGuard) {
    this.call = call;
    this.#request = request;
    this.#next = next;
    this.#guard = guard;
    this.#before = new RequestState(request);
  }

  /** Records that the hook has called its inner step; it may call the step again. */
  goneOn(reply: Reply | Promise<Reply>): void {
    this.#reply = reply;
    this.#state = null;
    if (!(reply instanceof Promise)) {
      this.#state = new ReplyState(reply);
      return;
    }
    const note = (settled: Reply): void => {
      if (this.#reply === reply) this.#state = new ReplyState(settled);
    };
    reply.then(note, () => {});
  }

  /** Handles the hook's return value. */
  settle(reply: Reply): Reply | Promise<Reply> {
    if (!isReply(reply)) return this.fail(this.#guard.wrongType(reply, 'a Reply'));
    this.#guard.passed();
    return reply;
  }

  /** Handles an error of the hook. */
  fail(error: unknown): Reply | Promise<Reply> {
    const failure = this.#guard.judge(error);
    const other = failure instanceof PluginFault ? this.#skip() : null;
    return other ?? Reply.failed(failure);
  }

  /** Returns the reply as if the hook were not configured; null when that is impossible. */
  #skip(): Reply | Promise<Reply> | null {
    const reply = this.#reply;
    if (this.call.reason) return Reply.failed(toCallError(this.call.reason));
    if (reply === null) return this.#before.restore() ? this.#next(this.#request, this.call) : null;
    const unread = (settled: Reply): Reply => (this.#state?.restore() ? settled : Reply.failed(new PluginFault(null)));
    return reply instanceof Promise ? reply.then(unread) : unread(reply);
  }
}
