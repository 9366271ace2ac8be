import {
  BackendError,
  ByteStream,
  type Call,
  CancelledError,
  discard,
  type PipeRequest,
  Reply,
  RequestBody,
  timerMs,
  toCallError,
} from '#contract';
import { retryAfterMs } from '../../shared/retries/retry-after.ts';
import type { Candidate } from './candidate.ts';
import { begun } from './first-byte.ts';
import type { Measures } from './measures.ts';

/** Settings of one router's attempts. */
export interface Policy {
  readonly statuses: ReadonlySet<number>;
  /** Maximum time until the response of one attempt begins; undefined for an equal share of the remaining time. */
  readonly attemptTimeoutMs: number | undefined;
  readonly cooldownMs: number;
  readonly showsProvider: boolean;
  readonly measures: Measures;
  /** Monotonic clock, in milliseconds. */
  now(): number;
}

/** A request whose body can be sent several times. */
export interface Repeatable {
  readonly request: PipeRequest;
  readonly body: Uint8Array | null;
}

/**
 * Calls the providers in order until one answers. A reply that has begun is final: nothing is tried after the first
 * byte of a stream.
 */
export async function callInOrder(
  candidates: readonly Candidate[],
  sent: Repeatable,
  call: Call,
  policy: Policy,
): Promise<Reply> {
  for (const [index, candidate] of candidates.entries()) {
    const left = candidates.length - index;
    const startedAt = policy.now();
    const reply = await attempt(candidate, sent, call, left === 1 ? undefined : timeoutOf(policy, call, left));
    const reason = call.reason ? null : failureOf(reply, policy.statuses);
    if (reason === null) {
      if (reply.errors.length > 0 || reply.status >= 400) return reply;
      const now = policy.now();
      candidate.health.answered(now - startedAt, now);
      policy.measures.answered(candidate, now - startedAt);
      return policy.showsProvider ? naming(reply, candidate) : reply;
    }
    const demandedMs = retryAfterMs(reply.headers.get('retry-after'), Date.now());
    candidate.health.failed(policy.now(), policy.cooldownMs, demandedMs);
    policy.measures.failed(candidate, reason, candidates[index + 1]);
    if (left === 1) return reply;
    discard(reply.body);
  }
  return Reply.failed(new BackendError('ROUTER_UNMATCHED', 'all providers have failed'));
}

function timeoutOf({ attemptTimeoutMs }: Policy, call: Call, left: number): number {
  return attemptTimeoutMs ?? call.remainingMs / left;
}

const timedOut = new BackendError('ROUTER_TIMEOUT', 'the provider did not respond in time');

/** One provider call, until its response begins. */
function attempt(
  { call: next }: Candidate,
  { request, body }: Repeatable,
  call: Call,
  timeoutMs = Number.POSITIVE_INFINITY,
): Promise<Reply> {
  const part = call.fork();
  const copy = request.copy();
  if (body) copy.body = RequestBody.of(body);
  return new Promise((resolve) => {
    let isSettled = false;
    const settle = (reply: Reply) => {
      if (isSettled) return discard(reply.body);
      isSettled = true;
      if (timer) clearTimeout(timer);
      if (!(reply.body instanceof ByteStream)) part.finish();
      resolve(reply);
    };
    const expire = () => {
      settle(Reply.failed(timedOut));
      part.cancel(timedOut);
    };
    const timer = timeoutMs < Number.POSITIVE_INFINITY ? setTimeout(expire, timerMs(Math.max(timeoutMs, 0))) : null;
    const run = async (): Promise<Reply> => {
      const reply = await next(copy, part);
      return reply.errors.length === 0 && reply.status < 400 ? begun(reply) : reply;
    };
    run().then(settle, (error: unknown) => settle(Reply.failed(toCallError(error))));
  });
}

/** Reason for which the next provider is tried; null for a reply that is used. */
function failureOf(reply: Reply, statuses: ReadonlySet<number>): string | null {
  const status = reply.upstreamStatus;
  if (status !== undefined && (reply.errors.length === 0 || status >= 400)) {
    return statuses.has(status) ? `status ${status}` : null;
  }
  const [error] = reply.errors;
  if (!error || error instanceof CancelledError) return null;
  // An error in the request would also occur with every other provider.
  return (error.view.status ?? 500) < 500 ? null : error.code;
}

function naming(reply: Reply, { name, model }: Candidate): Reply {
  reply.headers.set('X-AI-Provider', printable(name));
  reply.headers.set('X-AI-Model', printable(model));
  return reply;
}

/** Header values are ASCII; other characters are percent-encoded. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/gu, encodeURIComponent);
}
