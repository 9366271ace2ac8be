import type { Call } from './call.ts';
import type { CallError } from './errors.ts';
import type { HeaderBag } from './headers.ts';
import { Reply } from './message.ts';

/** One stage of a pipe. `R` is a `ClientRequest` in the endpoint phase, a `PipeRequest` after it. */
export type Step<R> = (request: R, call: Call) => Reply | Promise<Reply>;

/** Puts a stage around the rest of the pipe: code before `next` sees the request, code after it the reply. */
export type Wrap<R> = (next: Step<R>) => Step<R>;

/** Looks at the request; a reply ends the pipe there. */
export type BeforeHook<R> = (request: R, call: Call) => Reply | undefined | void | Promise<Reply | undefined | void>;

/**
 * A wrap that only looks at the request. A reply from the hook ends the pipe there. Stays synchronous until the hook
 * itself answers with a promise.
 *
 * @example before((request) => (request.headers.has('x-key') ? undefined : refuse(401)))
 */
export function before<R>(hook: BeforeHook<R>): Wrap<R> {
  const wrap: Wrap<R> = (next) => (request, call) => {
    const result = hook(request, call);
    if (result instanceof Promise) return result.then((reply) => reply ?? next(request, call));
    return result ?? next(request, call);
  };
  return Object.assign(wrap, { [hookOfBefore]: hook });
}

const hookOfBefore = Symbol('hook');

/** The hook of a wrap made by `before`; undefined for any other. */
export function beforeHook<R>(wrap: Wrap<R>): BeforeHook<R> | undefined {
  return (wrap as { [hookOfBefore]?: BeforeHook<R> })[hookOfBefore];
}

/** Looks at the reply, and may change it. */
export type AfterHook<R> = (reply: Reply, request: R, call: Call) => void | Promise<void>;

/**
 * A wrap that only looks at the reply, failed ones included; it may change the reply. Those that stand next to each other
 * are folded into one stage.
 */
export function after<R>(hook: AfterHook<R>): Wrap<R> {
  const wrap: Wrap<R> = (next) => (request, call) => {
    const reply = next(request, call);
    if (!(reply instanceof Promise)) return finish(reply, hook(reply, request, call));
    return reply.then((settled) => finish(settled, hook(settled, request, call)));
  };
  return Object.assign(wrap, { [hookOfAfter]: hook });
}

const hookOfAfter = Symbol('hook');

/** The hook of a wrap made by `after`; undefined for any other. */
export function afterHook<R>(wrap: Wrap<R>): AfterHook<R> | undefined {
  return (wrap as { [hookOfAfter]?: AfterHook<R> })[hookOfAfter];
}

function finish(reply: Reply, pending: void | Promise<void>): Reply | Promise<Reply> {
  return pending instanceof Promise ? pending.then(() => reply) : reply;
}

/**
 * A refusal: the pipe ends with this status and an empty body.
 * @param error when given, its text is the body where the gateway is to return error messages, and it is logged.
 */
export function refuse(status: number, options: { headers?: HeaderBag; error?: CallError } = {}): Reply {
  const reply = new Reply(status, options.headers);
  reply.complete = null;
  if (options.error) reply.errors = [options.error];
  return reply;
}
