import type { AgentMessage, Log } from '#contract';

/**
 * Outcome of a message: its pipe succeeded or failed, or it was returned without being run because the agent ends. A
 * returned message must be available to the next consumer.
 */
export type Outcome = 'done' | 'failed' | 'returned';

/** Functions and settings that a driver needs to consume messages. */
export interface Consuming {
  /**
   * Runs the pipe once a worker is free and the rate allows it. Never rejects. The caller limits how many messages
   * wait.
   */
  handle(message: AgentMessage): Promise<Outcome>;
  /**
   * Counts messages that are discarded without running the pipe, for example because they are too long. @param count
   * Default: 1.
   */
  discarded(count?: number): void;
  /** Aborts the attempt to connect. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** A connection over which an agent consumes messages. */
export interface AgentSession {
  /** Resolves with the reason when consumption ends unexpectedly. */
  readonly ended: Promise<Error>;
  /** Stops the delivery of messages; outcomes of earlier ones can still be reported. */
  stop(): Promise<void>;
  /** Closes the connection, in bounded time. */
  close(): Promise<void>;
}

/** Message source of an agent. The driver connects and consumes; the runner decides when, how often and how fast. */
export interface AgentDriver {
  /** Connects to the queue, in bounded time. @throws Error with the reason. */
  connect(consuming: Consuming): Promise<AgentSession>;
}
