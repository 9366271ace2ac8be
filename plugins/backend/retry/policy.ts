import type { PipeRequest, Reply, Tracer } from '#contract';
import { GrpcError } from '../../engines/grpc/status.ts';
import { idempotent } from '../../shared/retries/idempotent.ts';
import { retryAfterMs } from '../../shared/retries/retry-after.ts';
import type { BudgetLimits, Use } from './budget.ts';
import type { Measures, Result } from './measures.ts';
import { type PauseLimits, pauseMs, pushbackMs } from './pause.ts';
import { isUnsent, type Retriable } from './reason.ts';
import type { Sent } from './sent.ts';

/** Settings of one backend's retries, and the state they share. */
export interface Policy extends Retriable {
  readonly maxAttempts: number;
  /** Timeout of each attempt, in milliseconds; 0 for no limit. */
  readonly attemptTimeoutMs: number;
  /** Hedging delay, in milliseconds; 0 disables hedging. */
  readonly hedgeAfterMs: number;
  /** Whether methods that are not idempotent are repeated as well. */
  readonly repeatsAll: boolean;
  readonly maxBodyBytes: number;
  readonly pauses: PauseLimits;
  readonly maxRetryAfterMs: number;
  readonly budget: BudgetLimits;
  readonly use: Use;
  readonly measures: Measures;
  readonly tracer: Tracer | null;
}

/** A failed attempt. */
export interface Failed {
  readonly reply: Reply;
  readonly sent: Sent;
  /** Number of attempts so far. */
  readonly count: number;
}

/** Whether a request can be sent again, regardless of its body. */
export function isRepeatable({ repeatsAll }: Policy, { method }: PipeRequest, sent: Sent): boolean {
  return repeatsAll || idempotent.has(sent.method || method);
}

/** Pause before the next attempt in milliseconds, or the reason why no further attempt is made. */
export function nextAttempt(
  policy: Policy,
  request: PipeRequest,
  remainingMs: number,
  { reply, sent, count }: Failed,
): number | Result {
  if (count >= policy.maxAttempts) return 'attempts';
  if (!isRepeatable(policy, request, sent) && !isUnsent(reply, sent)) return 'method';
  if (request.body?.isTaken) return 'body';
  const pushback = pushbackOf(reply);
  const demandedMs = pushback === undefined ? retryAfterMs(sent.retryAfter, Date.now()) : pushbackMs(pushback);
  if (demandedMs > policy.maxRetryAfterMs) return 'retry_after';
  // A pause that the server demands is used unchanged, because the server distributes the retries itself.
  const waitMs = pushback === undefined ? Math.max(demandedMs, pauseMs(policy.pauses, count)) : demandedMs;
  return waitMs >= remainingMs ? 'deadline' : waitMs;
}

/** Demand of a gRPC server for retries of a failed call; undefined without one. */
function pushbackOf({ errors }: Reply): string | undefined {
  return errors.find((error) => error instanceof GrpcError)?.pushback;
}
