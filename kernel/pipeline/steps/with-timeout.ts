import { ByteStream, type Call, type PipeRequest, type Reply, type Step } from '#contract';
import { onStreamEnd } from '../traffic/stream-lease.ts';

/**
 * Gives a step its own deadline, from the start of its call; it also applies to bytes still arriving after the reply.
 */
export function withTimeout(timeoutMs: number, next: Step<PipeRequest>): Step<PipeRequest> {
  return (request, call) => {
    const own = call.fork(timeoutMs);
    return finishAfter(own, next(request, own));
  };
}

/** Ends the deadline of a part of a call with its reply, or with the end of the reply's stream. */
export function finishAfter(part: Call, reply: Reply | Promise<Reply>): Reply | Promise<Reply> {
  if (reply instanceof Promise) return reply.then((settled) => finishAfter(part, settled));
  if (reply.body instanceof ByteStream) reply.body = onStreamEnd(reply.body, () => part.finish());
  else part.finish();
  return reply;
}
