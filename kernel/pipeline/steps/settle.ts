import {
  type AfterHook,
  ByteStream,
  type Call,
  CancelledError,
  Reply,
  type Step,
  toCallError,
  type Wrap,
} from '#contract';
import { stagesOf } from './fold.ts';

/**
 * Combines wraps, outermost first, and the innermost step so that each wrap always gets a reply from the next one: an
 * exception is turned into a failed reply, and a call that ends while an inner step is still waiting gives a failed
 * reply, too.
 */
export function foldSettled<R>(wraps: readonly Wrap<R>[], innermost: Step<R>): Step<R> {
  return foldAround(wraps, alwaysSettled(innermost, 0), 1);
}

/**
 * Combines wraps with a step that always returns a reply.
 * @param depth number of steps inside, including that step.
 */
export function foldAround<R>(wraps: readonly Wrap<R>[], innermost: Step<R>, depth: number): Step<R> {
  const stages = stagesOf(wraps);
  return stages.reduceRight(
    (next, { wrap, hooks }, at) =>
      hooks ? afterwards(hooks, next) : alwaysSettled(wrap(next), depth + stages.length - 1 - at),
    innermost,
  );
}

/** Runs hooks after a step that always returns a reply. Each hook gets a reply, even if the previous hook fails. */
function afterwards<R>(hooks: readonly AfterHook<R>[], next: Step<R>): Step<R> {
  return (request, call) => {
    const reply = next(request, call);
    return reply instanceof Promise
      ? reply.then((settled) => runFrom(0, hooks, settled, request, call))
      : runFrom(0, hooks, reply, request, call);
  };
}

function runFrom<R>(
  start: number,
  hooks: readonly AfterHook<R>[],
  first: Reply,
  request: R,
  call: Call,
): Reply | Promise<Reply> {
  let reply = first;
  for (let at = start; at < hooks.length; at++) {
    try {
      const pending = hooks[at]!(reply, request, call);
      if (pending instanceof Promise) {
        const seen = reply;
        return settled(
          pending.then(() => seen),
          call,
          0,
        ).then((left) => runFrom(at + 1, hooks, left, request, call));
      }
    } catch (error) {
      drop(reply);
      reply = failed(error);
    }
  }
  return reply;
}

/** Runs a step once and always returns a reply, even if it fails. */
export function settledReply<R>(step: Step<R>, request: R, call: Call): Reply | Promise<Reply> {
  return alwaysSettled(step, 0)(request, call);
}

/**
 * Makes a step always return a reply, even if it fails or the call ends.
 * @param depth number of steps inside: when the call is aborted, each of them gets a turn of the event loop to reply
 * itself, innermost first, so that the steps around one that does not reply are not skipped.
 * @param finish maps the reply before it is returned. @param heedsCall whether for a request the step itself replies as
 * soon as its call is over. Default: never.
 */
export function alwaysSettled<R>(
  step: Step<R>,
  depth: number,
  finish: (reply: Reply) => Reply = same,
  heedsCall?: (request: R) => boolean,
): Step<R> {
  const fail = (error: unknown): Reply => finish(failed(error));
  return (request, call) => {
    try {
      const reply = step(request, call);
      if (!(reply instanceof Promise)) return finish(reply);
      return heedsCall?.(request) ? reply.then(finish, fail) : settled(reply, call, depth, finish);
    } catch (error) {
      return fail(error);
    }
  };
}

function same(reply: Reply): Reply {
  return reply;
}

function settled(
  pending: Promise<Reply>,
  call: Call,
  depth: number,
  finish: (reply: Reply) => Reply = same,
): Promise<Reply> {
  return new Promise((resolve) => {
    let over = false;
    const cancellation = call.onCancel((reason) => afterTurns(depth + 1, () => settle(failed(reason))));
    const settle = (reply: Reply): void => {
      if (over) {
        drop(reply);
        return;
      }
      over = true;
      cancellation.off();
      resolve(finish(reply));
    };
    pending.then(settle, (error) => settle(failed(error)));
  });
}

function failed(error: unknown): Reply {
  return Reply.failed(toCallError(error));
}

/** Releases a reply that is no longer awaited. */
export function drop({ body }: { readonly body: Reply['body'] | string }): void {
  if (body instanceof ByteStream) body.cancel(new CancelledError());
}

function afterTurns(turns: number, task: () => void): void {
  if (turns === 0) task();
  else setImmediate(afterTurns, turns - 1, task);
}
