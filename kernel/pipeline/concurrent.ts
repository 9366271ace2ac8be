import { type Call, CancelledError, type PipeRequest, Reply, type Step, toCallError } from '#contract';

/** Share of the time a backend has that its concurrent calls get. */
const SHARE = 0.75;

/**
 * Sends the same request several times at once and keeps the first complete reply; the others are given up. A raw reply
 * is complete as soon as it is there. With none, the last incomplete reply, else the last failure.
 */
export function concurrently(times: number, step: Step<PipeRequest>, timeoutMs: number): Step<PipeRequest> {
  return (request, call) =>
    new Promise((resolve) => {
      const group = call.fork(SHARE * Math.min(timeoutMs, call.remainingMs));
      const calls: Call[] = [];
      let open = times;
      let fallback: Reply | null = null;
      const settle = (reply: Reply, winner: Call | null) => {
        if (open < 0) return;
        open = -1;
        for (const loser of calls) if (loser !== winner) loser.cancel(new CancelledError());
        group.finish();
        resolve(reply);
      };
      const receive = (reply: Reply, own: Call) => {
        if (open < 0) return;
        open--;
        if (!reply.failed && (reply.body !== null || reply.complete)) return settle(reply, own);
        if (!reply.failed || fallback === null || fallback.failed) fallback = reply;
        if (open === 0) settle(fallback, null);
      };
      group.onCancel((reason) => {
        if (open > 0) settle(fallback ?? Reply.failed(toCallError(reason)), null);
      });
      for (let index = 0; index < times; index++) calls.push(call.fork());
      for (const own of calls) {
        Promise.resolve(step(request.copy(), own)).then(
          (reply) => receive(reply, own),
          (error) => receive(Reply.failed(toCallError(error)), own),
        );
      }
    });
}
