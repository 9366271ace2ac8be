import {
  type Call,
  CallError,
  type DataObject,
  discard,
  type Encoding,
  HeaderBag,
  mergeShallow,
  type PipeRequest,
  Reply,
  type Step,
  toCallError,
} from '#contract';

/** Share of the endpoint's timeout for merging several backends; the rest is for the stages after it. */
const SHARE = 0.85;

type Combine = (objects: readonly DataObject[]) => DataObject;

/**
 * Calls all backends at once and merges their replies in declaration order. The merge waits for all of them, but no
 * longer than its share of the endpoint's timeout; a late part then counts as failed. Errors are listed in the order in
 * which they occurred.
 *
 * @param timeoutMs timeout of the endpoint. @param joined encoding of parts that may be bytes; null when all are data.
 */
export function parallel(
  backends: readonly Step<PipeRequest>[],
  combine: Combine = mergeShallow,
  timeoutMs: number,
  joined: Encoding | null = null,
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
        resolve(merged(replies as Reply[], combine, errors, joined));
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

/** Merges replies. The combiner of a component may throw. */
function merged(
  replies: readonly Reply[],
  combine: Combine,
  errors: readonly CallError[],
  joined: Encoding | null,
): Reply {
  try {
    return mergeReplies(replies, combine, errors, joined);
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
 * Merges replies into one with their data: complete when all are; failed when all failed. A rejection counts as a
 * failure, even without an error.
 *
 * @param errors all errors so far, in order.
 */
export function mergeReplies(
  replies: readonly Reply[],
  combine: Combine = mergeShallow,
  errors: readonly CallError[] = replies.flatMap(failuresOf),
  joined: Encoding | null = null,
): Reply {
  const parts: (DataObject | Uint8Array)[] = [];
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
    else if (reply.data) parts.push(reply.data);
    else if (joined && reply.body instanceof Uint8Array) parts.push(reply.body);
    discard(reply.body);
  }
  if (failed > 0 && failed === replies.length - skipped) return Reply.failed(...errors);
  const isComplete = complete && skipped < replies.length;
  const merged = joined ? join(parts, joined, isComplete) : Reply.data(combine(parts as DataObject[]), isComplete);
  merged.errors = errors;
  return merged;
}

/** Merges parts without decoding them if all are bytes and the encoding supports it. */
function join(parts: readonly (DataObject | Uint8Array)[], encoding: Encoding, complete: boolean): Reply {
  const passed = parts.length > 0 && parts.every(isBytes) ? encoding.merges!(parts) : null;
  if (!passed) {
    const objects = parts.map((part) => (isBytes(part) ? encoding.decode!(part, false) : part));
    return Reply.data(mergeShallow(objects.filter((object) => object !== null)), complete);
  }
  const reply = Reply.raw(200, new HeaderBag(['Content-Type', passed.contentType]), passed.body);
  reply.complete = complete && !passed.empty;
  return reply;
}

function isBytes(part: DataObject | Uint8Array): part is Uint8Array {
  return part instanceof Uint8Array;
}

function failuresOf(reply: Reply): readonly CallError[] {
  if (reply.errors.length > 0 || reply.complete !== null || reply.skipped) return reply.errors;
  return [new CallError('CALL_REFUSED', `refused with status ${reply.status}`)];
}
