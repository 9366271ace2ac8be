import { ByteStream, type Call, type PipeRequest, type Reply, type Step } from '#contract';
import { onStreamEnd } from './stream-lease.ts';

/** Gives a step a deadline of its own, from the start of its call; bytes that are still coming stay under it. */
export function withTimeout(timeoutMs: number, next: Step<PipeRequest>): Step<PipeRequest> {
  return (request, call) => {
    const own = call.fork(timeoutMs);
    return finishAfter(own, next(request, own));
  };
}

/** The deadline of a part of a call is over with the reply, and for bytes that are still coming with their end. */
export function finishAfter(part: Call, reply: Reply | Promise<Reply>): Reply | Promise<Reply> {
  if (reply instanceof Promise) return reply.then((settled) => finishAfter(part, settled));
  if (reply.body instanceof ByteStream) reply.body = onStreamEnd(reply.body, () => part.finish());
  else part.finish();
  return reply;
}
