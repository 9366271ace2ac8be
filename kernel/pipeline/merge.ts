import {
  type Call,
  type CallError,
  type DataObject,
  mergeShallow,
  type PipeRequest,
  Reply,
  type Step,
  toCallError,
} from '#contract';

/** Share of the endpoint's time that the merge of several backends gets; the rest is for the stages after it. */
const SHARE = 0.85;

type Combine = (parts: readonly DataObject[]) => DataObject;

/**
 * Calls every backend at once and merges what they answer in declaration order. The merge waits for all of them, at
 * most for its share of the endpoint's time; a part that is late then counts as failed.
 *
 * @param timeoutMs the endpoint's timeout.
 */
export function parallel(
  backends: readonly Step<PipeRequest>[],
  combine: Combine = mergeShallow,
  timeoutMs: number,
): Step<PipeRequest> {
  return (request, call) =>
    new Promise((resolve) => {
      const part = call.fork(SHARE * timeoutMs);
      const replies: (Reply | undefined)[] = new Array(backends.length);
      let open = backends.length;
      const finish = () => {
        open = -1;
        part.finish();
        resolve(mergeReplies(replies as Reply[], combine));
      };
      const leave = part.onCancel((reason) => {
        if (open <= 0) return;
        for (let at = 0; at < replies.length; at++) replies[at] ??= Reply.failed(toCallError(reason));
        finish();
      });
      const receive = (at: number, reply: Reply) => {
        if (open <= 0) return;
        replies[at] = reply;
        if (--open > 0) return;
        leave();
        finish();
      };
      for (let at = 0; at < backends.length; at++) start(backends[at]!, request, part, at, receive);
    });
}

function start(
  step: Step<PipeRequest>,
  request: PipeRequest,
  call: Call,
  at: number,
  receive: (at: number, reply: Reply) => void,
): void {
  const reply = step(request, call);
  if (!(reply instanceof Promise)) return receive(at, reply);
  reply.then(
    (settled) => receive(at, settled),
    (error) => receive(at, Reply.failed(toCallError(error))),
  );
}

/** One reply of several: their data, complete when all are, with every error on the way; failed when all failed. */
export function mergeReplies(replies: readonly Reply[], combine: Combine = mergeShallow): Reply {
  const parts: DataObject[] = [];
  const errors: CallError[] = [];
  let complete = true;
  let skipped = 0;
  for (const reply of replies) {
    if (reply.skipped) {
      skipped++;
      continue;
    }
    if (reply.errors.length > 0) errors.push(...reply.errors);
    if (!reply.complete) complete = false;
    if (reply.data) parts.push(reply.data);
  }
  const failures = replies.reduce((count, reply) => count + (reply.failed ? 1 : 0), 0);
  if (failures > 0 && failures === replies.length - skipped) return Reply.failed(...errors);
  const merged = Reply.data(combine(parts), complete && skipped < replies.length);
  merged.errors = errors;
  return merged;
}
