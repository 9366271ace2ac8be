import type { Call } from './call.ts';
import type { CallError } from './errors.ts';
import type { HeaderBag } from './headers.ts';
import { Reply } from './message.ts';

/** One stage of a pipe. `R` is a `ClientRequest` in the endpoint phase and a `PipeRequest` afterwards. */
export type Step<R> = (request: R, call: Call) => Reply | Promise<Reply>;

/**
 * Places a stage around the rest of the pipe: code before `next` sees the request, code after it the reply. Called again
 * while an operator observes the endpoint, so that stages can be timed: state belongs to the attachment, not to the wrap.
 */
export type Wrap<R> = (next: Step<R>) => Step<R>;

/** Reads the request; a reply ends the pipe. */
export type BeforeHook<R> = (request: R, call: Call) => Reply | undefined | void | Promise<Reply | undefined | void>;

/**
 * A wrap that only reads the request. A reply from the hook ends the pipe. Synchronous unless the hook returns a
 * promise.
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

/** The hook of a wrap created by `before`; undefined for other wraps. */
export function beforeHook<R>(wrap: Wrap<R>): BeforeHook<R> | undefined {
  return (wrap as { [hookOfBefore]?: BeforeHook<R> })[hookOfBefore];
}

/** Reads or changes the reply. */
export type AfterHook<R> = (reply: Reply, request: R, call: Call) => void | Promise<void>;

/** A wrap that only reads or changes the reply, including failed ones. Adjacent wraps of this kind are combined into one stage. */
export function after<R>(hook: AfterHook<R>): Wrap<R> {
  const wrap: Wrap<R> = (next) => (request, call) => {
    const reply = next(request, call);
    if (!(reply instanceof Promise)) return finish(reply, hook(reply, request, call));
    return reply.then((settled) => finish(settled, hook(settled, request, call)));
  };
  return Object.assign(wrap, { [hookOfAfter]: hook });
}

const hookOfAfter = Symbol('hook');

/** The hook of a wrap created by `after`; undefined for other wraps. */
export function afterHook<R>(wrap: Wrap<R>): AfterHook<R> | undefined {
  return (wrap as { [hookOfAfter]?: AfterHook<R> })[hookOfAfter];
}

function finish(reply: Reply, pending: void | Promise<void>): Reply | Promise<Reply> {
  return pending instanceof Promise ? pending.then(() => reply) : reply;
}

/**
 * A rejection: ends the pipe with this status and an empty body.
 * @param error its message becomes the body if the gateway returns error messages, and is logged.
 */
export function refuse(status: number, options: { headers?: HeaderBag; error?: CallError } = {}): Reply {
  const reply = new Reply(status, options.headers);
  reply.complete = null;
  if (options.error) reply.errors = [options.error];
  return reply;
}
