import { ByteStream, type PipeRequest, type Reply, type Step } from '#contract';
import { onStreamEnd } from './stream-lease.ts';

/** Gives a step a deadline of its own, from the start of its call; bytes that are still coming stay under it. */
export function withTimeout(timeoutMs: number, next: Step<PipeRequest>): Step<PipeRequest> {
  return (request, call) => {
    const own = call.fork(timeoutMs);
    const leave = (reply: Reply): Reply => {
      if (reply.body instanceof ByteStream) reply.body = onStreamEnd(reply.body, () => own.finish());
      else own.finish();
      return reply;
    };
    const reply = next(request, own);
    return reply instanceof Promise ? reply.then(leave) : leave(reply);
  };
}
