import {
  type ActiveSpan,
  BackendError,
  ByteStream,
  type Call,
  type Cancellation,
  CancelledError,
  discard,
  type PipeRequest,
  Reply,
  type Step,
  timerMs,
  toCallError,
  triedHosts,
} from '#contract';
import { allowsRetry } from './budget.ts';
import type { Result } from './measures.ts';
import { isRepeatable, nextAttempt, type Policy } from './policy.ts';
import { ATTEMPT_TIMEOUT, type Reason, reasonToRetry } from './reason.ts';
import { nothingSent, type Sent, sentSlot } from './sent.ts';

/** One attempt in progress. */
interface Attempt {
  readonly isRetry: boolean;
  readonly call: Call;
  readonly sent: Sent;
  readonly span: ActiveSpan | null;
  timer: NodeJS.Timeout | null;
}

const timedOut = new BackendError(ATTEMPT_TIMEOUT, 'no response within attempt_timeout');

/** A backend request with all its attempts. Its result is the first reply that is not retried, otherwise the last reply. */
export class Attempts {
  readonly #policy: Policy;
  readonly #next: Step<PipeRequest>;
  /** The original request. Attempts send copies of it, because components change them. */
  readonly #request: PipeRequest;
  readonly #call: Call;
  readonly #resolve: (reply: Reply) => void;
  readonly #tried: string[] = [];
  /** Whether each attempt has a call of its own, which can be canceled separately. */
  readonly #isApart: boolean;
  readonly #running: Attempt[] = [];
  #count = 0;
  /** The last reply that is to be retried. */
  #last: Reply | null = null;
  #pause: NodeJS.Timeout | null = null;
  #hedge: NodeJS.Timeout | null = null;
  #cancellation: Cancellation | null = null;

  constructor(
    policy: Policy,
    next: Step<PipeRequest>,
    request: PipeRequest,
    call: Call,
    resolve: (reply: Reply) => void,
  ) {
    this.#policy = policy;
    this.#next = next;
    this.#request = request;
    this.#call = call;
    this.#resolve = resolve;
    this.#isApart = policy.attemptTimeoutMs > 0 || policy.hedgeAfterMs > 0;
  }

  begin(): void {
    this.#policy.use.active++;
    this.#start(null);
  }

  /** @param reason of a retry, which the budget has allowed; null for the first attempt. */
  #start(reason: Reason | null): void {
    const { attemptTimeoutMs, tracer, use } = this.#policy;
    this.#count++;
    if (reason) use.retries++;
    const part = this.#isApart ? this.#call.fork() : this.#call;
    const span = (reason && tracer?.start(part, 'retry', this.#attributes(reason))) ?? null;
    const sent = nothingSent();
    const attempt: Attempt = { isRetry: reason !== null, call: part, sent, span, timer: null };
    this.#running.push(attempt);
    if (attemptTimeoutMs > 0) attempt.timer = setTimeout(() => this.#expire(attempt), timerMs(attemptTimeoutMs));
    this.#hedgeLater();
    const call = (span?.call ?? part).with(triedHosts, this.#tried).with(sentSlot, sent);
    const fail = (error: unknown) => this.#received(attempt, Reply.failed(toCallError(error)));
    try {
      const reply = this.#next(this.#request.copy(), call);
      if (reply instanceof Promise) reply.then((settled) => this.#received(attempt, settled), fail);
      else this.#received(attempt, reply);
    } catch (error) {
      fail(error);
    }
  }

  #attributes(reason: Reason) {
    return { 'http.request.resend_count': this.#count - 1, 'retry.reason': reason };
  }

  #expire(attempt: Attempt): void {
    this.#received(attempt, Reply.failed(timedOut));
    attempt.call.cancel(timedOut);
  }

  #received(attempt: Attempt, reply: Reply): void {
    const at = this.#running.indexOf(attempt);
    if (at < 0) {
      // The attempt has timed out, or another attempt was faster.
      discard(reply.body);
      return;
    }
    this.#running.splice(at, 1);
    const reason = this.#call.reason ? null : reasonToRetry(reply, this.#policy);
    this.#over(attempt, reason);
    if (reason === null) return this.#use(reply, attempt);
    if (this.#last) discard(this.#last.body);
    this.#last = reply;
    if (this.#pause) return;
    const { sent } = attempt;
    const next = nextAttempt(this.#policy, this.#request, this.#call.remainingMs, { reply, sent, count: this.#count });
    // A backend that demands a pause does not receive hedged attempts during the pause.
    if (next === 'retry_after') this.#stopHedging();
    if (typeof next === 'number') this.#retryIn(next, reason, reply);
    else if (this.#running.length === 0) this.#settle(reply, next);
  }

  /** Releases the resources of an attempt. */
  #over({ isRetry, timer, span }: Attempt, reason: string | null): void {
    if (timer) clearTimeout(timer);
    if (isRetry) this.#policy.use.retries--;
    if (reason) span?.fail(reason);
    span?.end();
  }

  #retryIn(waitMs: number, reason: Reason, { status, errors }: Reply): void {
    this.#call.log.debug(() => {
      const why = errors[0]?.message ?? `status ${status}`;
      return `[Retry] attempt ${this.#count + 1} of ${this.#policy.maxAttempts} in ${Math.round(waitMs)} ms, after: ${why}`;
    });
    this.#pause = setTimeout(() => {
      this.#pause = null;
      this.#cancellation?.off();
      this.#cancellation = null;
      const { use, budget } = this.#policy;
      // The budget counts a retry when it is sent, because a waiting retry puts no load on the backend.
      if (allowsRetry(use, budget)) this.#retry(reason);
      else if (this.#running.length === 0) this.#settle(this.#last!, 'budget');
    }, timerMs(waitMs));
    this.#cancellation = this.#call.onCancel((cause) => this.#settle(Reply.failed(toCallError(cause)), null));
  }

  #retry(reason: Reason): void {
    if (this.#last) discard(this.#last.body);
    this.#last = null;
    this.#policy.measures.retried(reason);
    this.#start(reason);
  }

  #hedgeLater(): void {
    const { hedgeAfterMs, maxAttempts } = this.#policy;
    this.#stopHedging();
    if (hedgeAfterMs === 0 || this.#count >= maxAttempts) return;
    this.#hedge = setTimeout(() => {
      this.#hedge = null;
      if (this.#canHedge()) {
        this.#call.log.debug(
          () => `[Retry] sending attempt ${this.#count + 1} of ${maxAttempts} in parallel: no response yet`,
        );
        this.#retry('hedge');
      }
    }, timerMs(hedgeAfterMs));
  }

  #stopHedging(): void {
    if (this.#hedge) clearTimeout(this.#hedge);
    this.#hedge = null;
  }

  #canHedge(): boolean {
    const policy = this.#policy;
    const { body } = this.#request;
    if (this.#call.reason || this.#pause || this.#running.length === 0) return false;
    const isKept = body === null || (body.length !== undefined && body.length <= policy.maxBodyBytes);
    return (
      isKept &&
      this.#running.every(({ sent }) => isRepeatable(policy, this.#request, sent)) &&
      allowsRetry(policy.use, policy.budget)
    );
  }

  /** Returns a reply that is not retried to the caller. */
  #use(reply: Reply, attempt: Attempt): void {
    if (this.#isApart && !(reply.body instanceof ByteStream)) attempt.call.finish();
    const result = reply.errors.length === 0 ? 'success' : 'failure';
    this.#settle(reply, this.#count > 1 && !this.#call.reason ? result : null);
  }

  /** @param result for the metrics; null if no retry was considered, or the call was canceled. */
  #settle(reply: Reply, result: Result | null): void {
    if (this.#hedge) clearTimeout(this.#hedge);
    if (this.#pause) clearTimeout(this.#pause);
    this.#cancellation?.off();
    if (this.#last && this.#last !== reply) discard(this.#last.body);
    const reason = new CancelledError();
    for (const loser of this.#running.splice(0)) {
      this.#over(loser, null);
      loser.call.cancel(reason);
    }
    this.#policy.use.active--;
    if (result) this.#policy.measures.ended(result);
    this.#resolve(reply);
  }
}
