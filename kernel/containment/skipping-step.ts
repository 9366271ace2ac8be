import { type Call, type ClientRequest, PipeRequest, Reply, type Step, toCallError, type Wrap } from '#contract';
import type { HookGuard } from './hook-guard.ts';
import { HOOK, marks, STEP } from './marks.ts';
import { PluginFault } from './plugin-fault.ts';
import { leaving, refusing } from './refusing-step.ts';
import { isReply, isThenable, ReplyState } from './reply-state.ts';

/**
 * A wrap that is passed over where it fails. Before it has gone on, what it wraps gets the request as it was; afterwards the
 * answer of what it wraps is given, as it was. Neither can be done where the hook has taken bytes that come only once: the
 * body of a request, or that of a reply, that is still on its way. The request is refused then, as without skipping.
 */
export function skipping<R extends object>(wrap: Wrap<R>, next: Step<R>, guard: HookGuard): Step<R> {
  const { record, number } = guard;
  /** Requests that are in the hook. */
  const passes = new Map<Call, Pass<R>>();
  const inside = leaving(next, guard);
  const step = wrap((request, call) => {
    const reply = inside(request, call);
    passOf(passes, call)?.goneOn(reply);
    return reply;
  });
  const refused = refusing(step, guard);
  return (request, call) => {
    if (record.suspension !== null) return next(request, call);
    // One call twice in the hook at a time: whose answer is whose cannot be told.
    if (passes.has(call)) return refused(request, call);
    const pass = new Pass(request);
    passes.set(call, pass);
    const settle = (reply: Reply): Reply | Promise<Reply> => {
      if (!isReply(reply)) return fail(guard.wrongType(reply, 'a Reply'));
      passes.delete(call);
      guard.passed();
      return reply;
    };
    const fail = (error: unknown): Reply | Promise<Reply> => {
      passes.delete(call);
      const failure = guard.judge(error);
      const other = failure instanceof PluginFault ? pass.skip(next, request, call) : null;
      return other ?? Reply.failed(failure);
    };
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
    return isThenable(reply) ? Promise.resolve<Reply>(reply).then(settle, fail) : settle(reply);
  };
}

/** The request that a call is of, whether the hook went on with the call itself or with a part of it. */
function passOf<R extends object>(passes: ReadonlyMap<Call, Pass<R>>, call: Call): Pass<R> | undefined {
  for (let at: Call | null = call; at; at = at.outer) {
    const pass = passes.get(at);
    if (pass) return pass;
  }
  return undefined;
}

/** One request in a hook: what is needed to go on without the hook. */
class Pass<R extends object> {
  readonly #restore: () => boolean;
  #reply: Reply | Promise<Reply> | null = null;
  #state: ReplyState | null = null;

  constructor(request: R) {
    this.#restore = restorer(request);
  }

  /** The hook went on; it may do so again. */
  goneOn(reply: Reply | Promise<Reply>): void {
    this.#reply = reply;
    this.#state = null;
    const note = (settled: Reply): void => {
      if (this.#reply === reply) this.#state = new ReplyState(settled);
    };
    if (reply instanceof Promise) reply.then(note, () => {});
    else note(reply);
  }

  /** The answer without the hook; null where there is none. */
  skip(next: Step<R>, request: R, call: Call): Reply | Promise<Reply> | null {
    const reply = this.#reply;
    if (call.reason) return Reply.failed(toCallError(call.reason));
    if (reply === null) return this.#restore() ? next(request, call) : null;
    const unread = (settled: Reply): Reply => (this.#state?.restore() ? settled : Reply.failed(new PluginFault(null)));
    return reply instanceof Promise ? reply.then(unread) : unread(reply);
  }
}

/** Keeps a request as it is. @returns what makes it so again; false when its body has been taken. */
function restorer(request: object): () => boolean {
  if (request instanceof PipeRequest) {
    const copy = request.copy();
    return () => !copy.body?.isTaken && Boolean(Object.assign(request, copy));
  }
  const client = request as ClientRequest;
  const { body } = client;
  const { headers } = client;
  const list = headers.list.slice();
  return () => {
    if (body?.isTaken) return false;
    headers.assign(list);
    client.body = body;
    return true;
  };
}
