/** State of an async agent, for the admin API. Counts begin when the agent starts; a reload continues them. */
export interface AgentStatus {
  /** `stopped` after too many attempts to connect. */
  readonly state: 'connecting' | 'connected' | 'stopped';
  /** Time at which the state began, in milliseconds since 1970. */
  readonly since: number;
  /** Consecutive failed attempts to connect. */
  readonly retries: number;
  /** Messages that are processed now. */
  readonly inProgress: number;
  /** Messages that have been received and wait for a worker or for the rate limit. */
  readonly waiting: number;
  /** Time for which the oldest waiting message has waited, in milliseconds; 0 without one. */
  readonly lagMs: number;
  /** Messages that were processed successfully. */
  readonly done: number;
  /** Messages whose pipe failed. */
  readonly failed: number;
  /** Messages that were dropped without being processed. */
  readonly discarded: number;
  /** Time of the last message that was processed successfully, in milliseconds since 1970; null before the first. */
  readonly lastSuccessAt: number | null;
  /** The last failed message, or failed attempt to connect; null before the first. */
  readonly lastFailure: { readonly at: number; readonly message: string } | null;
}
