import { type Call, type DataObject, discard, type PipeRequest, Reply, type Step, toCallError } from '#contract';
import type { Combine } from './combiner.ts';

/** Calls one backend and returns its reply. Once the sequence of calls is aborted, the backend is not called. */
export function attempt(backend: Step<PipeRequest>, request: PipeRequest, chain: Call): Reply | Promise<Reply> {
  if (chain.reason) return asFailed(chain.reason);
  try {
    return backend(request, chain);
  } catch (error) {
    return asFailed(error);
  }
}

/** Waits for a reply only until the sequence of backend calls is aborted. */
export function inTime(reply: Reply | Promise<Reply>, chain: Call): Reply | Promise<Reply> {
  if (!(reply instanceof Promise)) return reply;
  return new Promise((resolve) => {
    const cancellation = chain.onCancel((reason) => resolve(asFailed(reason)));
    const settle = (settled: Reply) => {
      cancellation.off();
      resolve(settled);
    };
    reply.then(settle, (error) => settle(asFailed(error)));
  });
}

/** Whether a reply has no errors and all its data. A rejection, whose completeness is null, is not complete. */
export function isWhole(reply: Reply, raw: boolean): boolean {
  if (reply.errors.length > 0 || reply.complete === null) return false;
  return reply.complete || raw || reply.skipped;
}

/**
 * Combines the data and errors of several replies into one decoded reply. Status, headers and bytes of the replies are
 * not used, because they are those of single backends.
 */
export function gathered(replies: readonly Reply[], complete: boolean, combine: Combine): Reply {
  const objects: DataObject[] = [];
  for (const { data } of replies) if (data) objects.push(data);
  const reply = Reply.data(combine(objects), complete && replies.some(({ skipped }) => !skipped));
  reply.errors = replies.flatMap(({ errors }) => errors);
  discard(replies.at(-1)!.body);
  return reply;
}

/** A failed reply with the given reason. */
export function asFailed(reason: unknown): Reply {
  return Reply.failed(toCallError(reason));
}
