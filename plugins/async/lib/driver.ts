import type { AgentMessage, Log } from '#contract';

/**
 * What became of a message: its pipe succeeded, or failed, or it was never run since the agent ends. One that was returned
 * is to be there again for the next consumer.
 */
export type Outcome = 'done' | 'failed' | 'returned';

/** What a driver is given to consume with. */
export interface Consuming {
  /**
   * Runs the pipe once a worker is free and the rate allows. Never rejects. Whoever calls it bounds how many messages wait.
   */
  handle(message: AgentMessage): Promise<Outcome>;
  /** Counts messages that are dropped without having been run, as one that is too long. @param count Default: 1. */
  discarded(count?: number): void;
  /** Gives the connection up while it is being made. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** A connection that consumes. */
export interface AgentSession {
  /** Resolves with the reason once it consumes no more, without having been asked to. */
  readonly ended: Promise<Error>;
  /** No further message is handed over; what becomes of the others can still be said. */
  stop(): Promise<void>;
  /** Ends the connection, in bounded time. */
  close(): Promise<void>;
}

/** How an agent gets its messages. It connects and consumes; when, how often and how fast is the business of the runner. */
export interface AgentDriver {
  /** @throws Error with the reason, in bounded time. */
  connect(consuming: Consuming): Promise<AgentSession>;
}
