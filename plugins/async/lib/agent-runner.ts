import type { AgentMessage, AgentSite, AgentStatus, Log } from '#contract';
import { discard, timerMs } from '#contract';
import { fullBucket, type Limit, take } from '../../shared/buckets/token-bucket.ts';
import { type BackoffStrategy, backOff } from '../../shared/retries/backoff.ts';
import { AgentRecord } from './agent-record.ts';
import type { AgentDriver, AgentSession, Outcome } from './driver.ts';

/** Current settings of an agent: any of them may change with the next configuration. */
export interface AgentJob {
  readonly run: AgentSite<unknown>['run'];
  /** Whether a reply with incomplete data also counts as success, as from backends that are not decoded. */
  readonly isRaw: boolean;
  /** Maximum concurrent messages. */
  readonly workers: number;
  /** Rate limit; null for no limit. */
  readonly rate: Limit | null;
  readonly maxRetries: number;
  readonly strategy: BackoffStrategy;
  readonly healthMs: number;
  readonly log: Log;
  /** Counts messages by outcome; null when metrics are not exported. */
  readonly count: ((outcome: 'done' | 'failed' | 'discarded', times?: number) => void) | null;
  /** Reports that the agent is alive. */
  report(): void;
  /** Waits for the preceding agents before the first attempt to connect. @returns a function that lets the next agent begin. */
  turn(signal: AbortSignal): Promise<() => void>;
}

/** A message waiting for a worker. */
interface Waiting {
  readonly message: AgentMessage;
  /** Monotonic time at which it was received, in milliseconds. */
  readonly at: number;
  readonly settle: (outcome: Outcome) => void;
}

/** Session duration, in milliseconds, after which a session counts as successful and the number of attempts is reset. */
const SETTLED_MS = 5000;

/**
 * Runs one agent: keeps its driver connected, and runs its pipe for every message. Survives reloads for as long as its
 * source stays the same; each configuration provides its own pipe.
 */
export class AgentRunner {
  readonly #driver: AgentDriver;
  readonly #bucket = fullBucket();
  readonly #record = new AgentRecord();
  #job: AgentJob | null = null;
  #consuming: AbortController | null = null;
  /** Promise that resolves when the first attempt to connect has ended. */
  #attempted: Promise<void> = Promise.resolve();
  /** Promise that resolves when the agent has ended. */
  #ended: Promise<void> = Promise.resolve();
  #waiting: Waiting[] = [];
  #active = 0;
  #onIdle: (() => void) | null = null;
  #refill: NodeJS.Timeout | null = null;

  constructor(driver: AgentDriver) {
    this.#driver = driver;
  }

  /**
   * @param signal aborted when the configuration ends. The agent ends with it, unless a later configuration has taken over the agent.
   * @returns a promise that resolves when its first attempt to connect is over, successful or not.
   */
  serve(job: AgentJob, signal: AbortSignal): Promise<void> {
    this.#job = job;
    signal.addEventListener('abort', () => {
      if (this.#job === job) this.#consuming?.abort();
    });
    if (!this.#consuming || this.#consuming.signal.aborted) {
      const consuming = new AbortController();
      this.#consuming = consuming;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#attempted = promise;
      // The next run starts after the previous one has returned its messages to the broker.
      this.#ended = this.#ended.then(() => this.#consume(consuming, resolve));
    }
    // Started messages are rescheduled, because the new configuration may have another rate limit.
    if (this.#refill) clearTimeout(this.#refill);
    this.#refill = null;
    this.#next();
    return this.#attempted;
  }

  get status(): AgentStatus {
    return this.#record.status({
      inProgress: this.#active,
      waiting: this.#waiting.length,
      oldestAt: this.#waiting[0]?.at,
    });
  }

  /** Stops accepting messages, waits for messages in progress, and returns all other messages to the broker. */
  close(): Promise<void> {
    this.#consuming?.abort();
    return this.#ended;
  }

  async #consume(consuming: AbortController, onAttempted: () => void): Promise<void> {
    const { signal } = consuming;
    this.#record.enter('connecting');
    const next = await this.#job!.turn(signal);
    const goOn = () => {
      next();
      onAttempted();
    };
    for (let attempt = 0; !signal.aborted; attempt++) {
      const { strategy, maxRetries } = this.#job!;
      if (maxRetries > 0 && attempt > maxRetries) {
        this.#job!.log.error('too many retries: the agent has stopped and restarts with the next configuration');
        this.#record.enter('stopped');
        break;
      }
      await backOff(strategy, attempt, signal);
      if (signal.aborted) break;
      const lastedMs = await this.#session(signal, goOn);
      if (lastedMs > SETTLED_MS) attempt = -1;
    }
    goOn();
    if (this.#consuming === consuming) this.#consuming = null;
  }

  /** @returns how long the session consumed messages, in milliseconds; 0 when it failed to start. */
  async #session(signal: AbortSignal, onAttempted: () => void): Promise<number> {
    let session: AgentSession;
    const { log } = this.#job!;
    try {
      log.info('Starting the consumer');
      const handle = (message: AgentMessage) => this.#handle(message);
      const discarded = (count?: number) => {
        this.#record.discarded(count ?? 1);
        this.#job!.count?.('discarded', count);
      };
      session = await this.#driver.connect({ handle, discarded, signal, log });
    } catch (error) {
      const { message } = error as Error;
      if (!signal.aborted) {
        log.error(message);
        this.#record.notConnected(message);
      }
      return 0;
    } finally {
      onAttempted();
    }
    const began = performance.now();
    this.#record.enter('connected');
    const stopReports = this.#reportRegularly();
    const problem = await firstOf(session.ended, signal);
    stopReports();
    if (problem) {
      this.#job!.log.warning(`Consumer stopped: ${problem.message}`);
      this.#record.enter('connecting');
      this.#record.disconnected(problem.message);
    } else await session.stop().catch(() => {});
    // Messages of a lost session are not reported, because this requires the session; the queue redelivers them.
    for (const { settle } of this.#waiting.splice(0)) settle('returned');
    if (!problem) await this.#idle();
    await session.close().catch(() => {});
    return performance.now() - began;
  }

  #reportRegularly(): () => void {
    let timer: NodeJS.Timeout;
    const report = () => {
      const { healthMs } = this.#job!;
      this.#job!.report();
      timer = setTimeout(report, timerMs(healthMs)).unref();
    };
    report();
    return () => clearTimeout(timer);
  }

  #handle(message: AgentMessage): Promise<Outcome> {
    return new Promise((settle) => {
      this.#waiting.push({ message, settle, at: performance.now() });
      this.#next();
    });
  }

  /** Starts as many messages as the workers and the rate allow. */
  #next(): void {
    const job = this.#job!;
    if (this.#consuming?.signal.aborted) return;
    while (this.#active < job.workers && this.#waiting.length > 0 && !this.#refill) {
      const waitMs = job.rate ? take(this.#bucket, job.rate, performance.now()) : 0;
      if (waitMs > 0) {
        this.#refill = setTimeout(() => {
          this.#refill = null;
          this.#next();
        }, timerMs(waitMs)).unref();
      } else void this.#run(job, this.#waiting.shift()!);
    }
  }

  async #run(job: AgentJob, { message, settle }: Waiting): Promise<void> {
    this.#active++;
    const failure = await runPipe(job, message);
    const outcome = failure === null ? 'done' : 'failed';
    if (failure === null) this.#record.done();
    else this.#record.failed(failure);
    job.count?.(outcome);
    settle(outcome);
    this.#active--;
    if (this.#active === 0) this.#onIdle?.();
    this.#next();
  }

  async #idle(): Promise<void> {
    if (this.#active === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    this.#onIdle = null;
  }
}

/** A message is done when no step failed and no part of the reply is missing. @returns null, or the reason of the failure. */
async function runPipe({ run, isRaw, log }: AgentJob, message: AgentMessage): Promise<string | null> {
  const reply = await run(message);
  const isWhole = reply.complete === true || reply.body !== null || (isRaw && reply.complete === false);
  discard(reply.body);
  if (reply.errors.length === 0 && isWhole) return null;
  const reason = reply.errors.map((error) => error.message).join('; ') || 'the response of the backends is incomplete';
  log.error(reason);
  return reason;
}

/** Resolves with the reason of an unexpected end; with null if the signal aborts first. */
function firstOf(ended: Promise<Error>, signal: AbortSignal): Promise<Error | null> {
  return new Promise((resolve) => {
    const onAbort = () => resolve(null);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    void ended.then((error) => {
      signal.removeEventListener('abort', onAbort);
      resolve(error);
    });
  });
}
