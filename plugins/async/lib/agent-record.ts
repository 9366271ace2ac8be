import type { AgentStatus } from '#contract';

/** Part of a status that the record does not know. */
type Work = Pick<AgentStatus, 'inProgress' | 'waiting'> & {
  /** Monotonic time at which the oldest waiting message was received, in milliseconds; undefined without one. */
  readonly oldestAt: number | undefined;
};

/** Records the state and the results of one agent, in constant memory. */
export class AgentRecord {
  #state: AgentStatus['state'] = 'connecting';
  #since = Date.now();
  #retries = 0;
  #done = 0;
  #failed = 0;
  #discarded = 0;
  #lastSuccessAt: number | null = null;
  #lastFailure: AgentStatus['lastFailure'] = null;

  enter(state: AgentStatus['state']): void {
    if (state === 'connected') this.#retries = 0;
    if (state === this.#state) return;
    this.#state = state;
    this.#since = Date.now();
  }

  notConnected(reason: string): void {
    this.#retries++;
    this.#fail(reason);
  }

  /** Records the end of a session. */
  disconnected(reason: string): void {
    this.#fail(reason);
  }

  done(): void {
    this.#done++;
    this.#lastSuccessAt = Date.now();
  }

  failed(reason: string): void {
    this.#failed++;
    this.#fail(reason);
  }

  discarded(count: number): void {
    this.#discarded += count;
  }

  status({ inProgress, waiting, oldestAt }: Work): AgentStatus {
    return {
      state: this.#state,
      since: this.#since,
      retries: this.#retries,
      inProgress,
      waiting,
      lagMs: oldestAt === undefined ? 0 : Math.round(performance.now() - oldestAt),
      done: this.#done,
      failed: this.#failed,
      discarded: this.#discarded,
      lastSuccessAt: this.#lastSuccessAt,
      lastFailure: this.#lastFailure,
    };
  }

  #fail(message: string): void {
    this.#lastFailure = { at: Date.now(), message: message.slice(0, MAX_MESSAGE) };
  }
}

/** Maximum length of a recorded reason, in characters. */
const MAX_MESSAGE = 500;
