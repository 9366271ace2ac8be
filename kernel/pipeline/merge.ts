import {
  type Call,
  CallError,
  type DataObject,
  discard,
  mergeShallow,
  type PipeRequest,
  Reply,
  type Step,
  toCallError,
} from '#contract';

/** Share of the endpoint's time that the merge of several backends gets; the rest is for the stages after it. */
const SHARE = 0.85;

type Combine = (objects: readonly DataObject[]) => DataObject;

/**
 * Calls every backend at once and merges what they answer in declaration order. The merge waits for all of them, at
 * most for its share of the endpoint's time; a part that is late then counts as failed. Errors stand in the order in
 * which they came up.
 *
 * @param timeoutMs the endpoint's timeout.
 */
export function parallel(
  backends: readonly Step<PipeRequest>[],
  combine: Combine = mergeShallow,
  timeoutMs: number,
): Step<PipeRequest> {
  return (request, call) => {
    if (call.reason) return Reply.failed(toCallError(call.reason));
    return new Promise((resolve) => {
      const own = call.fork(SHARE * timeoutMs);
      const replies: (Reply | undefined)[] = new Array(backends.length);
      let errors = noErrors;
      let open = backends.length;
      const finish = () => {
        open = 0;
        own.finish();
        resolve(merged(replies as Reply[], combine, errors));
      };
      const receive = (at: number, reply: Reply) => {
        if (open === 0) {
          discard(reply.body);
          return;
        }
        replies[at] = reply;
        const failures = failuresOf(reply);
        if (failures.length > 0) errors = [...errors, ...failures];
        if (--open > 0) return;
        cancellation.off();
        finish();
      };
      const cancellation = own.onCancel((reason) => {
        for (let at = 0; at < backends.length; at++) {
          if (replies[at] === undefined) receive(at, Reply.failed(toCallError(reason)));
        }
      });
      for (let at = 0; at < backends.length; at++) start(backends[at]!, request, own, at, receive);
    });
  };
}

/** What combines them may be a component's, and fail. */
function merged(replies: readonly Reply[], combine: Combine, errors: readonly CallError[]): Reply {
  try {
    return mergeReplies(replies, combine, errors);
  } catch (error) {
    return Reply.failed(toCallError(error));
  }
}

const noErrors: readonly CallError[] = Object.freeze([]);

function start(
  step: Step<PipeRequest>,
  request: PipeRequest,
  call: Call,
  at: number,
  receive: (at: number, reply: Reply) => void,
): void {
  const fail = (error: unknown): void => receive(at, Reply.failed(toCallError(error)));
  try {
    const reply = step(request, call);
    if (reply instanceof Promise) reply.then((settled) => receive(at, settled), fail);
    else receive(at, reply);
  } catch (error) {
    fail(error);
  }
}

/**
 * One reply of several: their data, complete when all are; failed when all failed. A refusal is a failure, also when it
 * names no error.
 *
 * @param errors everything that failed on the way, in order.
 */
export function mergeReplies(
  replies: readonly Reply[],
  combine: Combine = mergeShallow,
  errors: readonly CallError[] = replies.flatMap(failuresOf),
): Reply {
  const objects: DataObject[] = [];
  let complete = true;
  let failed = 0;
  let skipped = 0;
  for (const reply of replies) {
    if (reply.skipped) {
      skipped++;
      continue;
    }
    if (!reply.complete) complete = false;
    if (reply.complete === null || reply.failed) failed++;
    else if (reply.data) objects.push(reply.data);
    discard(reply.body);
  }
  if (failed > 0 && failed === replies.length - skipped) return Reply.failed(...errors);
  const merged = Reply.data(combine(objects), complete && skipped < replies.length);
  merged.errors = errors;
  return merged;
}

function failuresOf(reply: Reply): readonly CallError[] {
  if (reply.errors.length > 0 || reply.complete !== null || reply.skipped) return reply.errors;
  return [new CallError('CALL_REFUSED', `refused with status ${reply.status}`)];
}
