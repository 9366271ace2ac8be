import { CancelledError, type Log, type Reply, refuse, type Schema } from '#contract';
import { RedisError } from './redis-error.ts';

/** Schema field for the handling of requests that Redis has not counted. */
export const failureField = {
  type: 'boolean',
  description:
    'Accepts requests that cannot be counted because Redis is unreachable, slow or out of memory. If disabled, such requests are rejected with 500.',
  default: false,
} as const satisfies Schema;

/** Shortest interval between two log lines, in milliseconds. */
const QUIET_MS = 1000;

/** Handling of requests that Redis has not counted. */
export class OnFailure {
  readonly #allows: boolean;
  readonly #log: Log;
  #saidAt = Number.NEGATIVE_INFINITY;
  #unsaid = 0;

  constructor(allows: boolean, log: Log) {
    this.#allows = allows;
    this.#log = log;
  }

  /**
   * Decides on a request that was not counted: undefined accepts it, otherwise the reply rejects it with 500. Both are
   * logged, unless the client has disconnected.
   */
  readonly settle = (error: unknown): Reply | undefined => {
    if (!(error instanceof RedisError)) throw error;
    if (!(error.cause instanceof CancelledError)) this.#say(error);
    return this.#allows ? undefined : refuse(500, { error });
  };

  /** Logs at most once a second. */
  #say({ message }: RedisError): void {
    const now = performance.now();
    if (now - this.#saidAt < QUIET_MS) {
      this.#unsaid++;
      return;
    }
    const more = this.#unsaid > 0 ? `, and ${this.#unsaid} before` : '';
    if (this.#allows) this.#log.warning(`[Redis] a request is accepted without being counted${more}: ${message}`);
    else this.#log.error(`[Redis] a request is rejected${more}: ${message}`);
    this.#saidAt = now;
    this.#unsaid = 0;
  }
}
