import { type Call, CancelledError, discard, type PipeRequest, Reply, type Step, toCallError } from '#contract';
import { finishAfter } from '../steps/with-timeout.ts';

/** Share of a backend's timeout that its concurrent calls get. */
const SHARE = 0.75;

/**
 * Sends the same request several times at once and keeps the first complete reply; the others are aborted. A raw reply
 * is complete as soon as it arrives. Without a complete reply, the last incomplete one is kept, or else the last
 * failure.
 *
 * @param timeoutMs timeout of the backend.
 */
export function concurrently(times: number, step: Step<PipeRequest>, timeoutMs: number): Step<PipeRequest> {
  return (request, call) => {
    if (call.reason) return Reply.failed(toCallError(call.reason));
    return new Promise((resolve) => {
      const group = call.fork(SHARE * timeoutMs);
      const calls: Call[] = [];
      let open = times;
      let fallback: Reply | null = null;
      const settle = (reply: Reply, winner: Call | null, reason: Error) => {
        open = 0;
        for (const loser of calls) if (loser !== winner) loser.cancel(reason);
        if (winner) finishAfter(winner, reply);
        group.finish();
        resolve(reply);
      };
      const receive = (reply: Reply, own: Call) => {
        if (open === 0) {
          discard(reply.body);
          return;
        }
        open--;
        if (!reply.failed && (reply.body !== null || reply.complete)) return settle(reply, own, new CancelledError());
        if (!reply.failed || fallback === null || fallback.failed) fallback = reply;
        if (open === 0) settle(fallback, null, new CancelledError());
      };
      group.onCancel((reason) => {
        // The calls end with the deadline error, so that observers of each call, such as a circuit breaker, see a
        // timeout.
        if (open > 0) settle(fallback ?? Reply.failed(toCallError(reason)), null, reason);
      });
      // The calls are not forked from the group, because the body of the chosen reply may last longer than the group.
      for (let index = 0; index < times; index++) calls.push(call.fork());
      for (const own of calls) start(step, request.copy(), own, receive);
    });
  };
}

function start(
  step: Step<PipeRequest>,
  request: PipeRequest,
  own: Call,
  receive: (reply: Reply, own: Call) => void,
): void {
  const fail = (error: unknown): void => receive(Reply.failed(toCallError(error)), own);
  try {
    const reply = step(request, own);
    if (reply instanceof Promise) reply.then((settled) => receive(settled, own), fail);
    else receive(reply, own);
  } catch (error) {
    fail(error);
  }
}
