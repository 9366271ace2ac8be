/** A difference between the responses of two configurations to recorded requests, without values, which may be data of clients. */
export interface ReplayChange {
  /** Endpoint, for example `GET /users/{id}`. */
  readonly endpoint: string;
  /** Kind of difference, for example `visible`. */
  readonly cause: string;
  /** Path of the field, name of the header, or method and server of the call; empty for the whole. */
  readonly at: string;
  /** Number of requests that have the difference. */
  readonly requests: number;
  /** The changed settings that can be the reason; pointers of removed ones are those in the old document. */
  readonly settings: readonly { readonly op: 'add' | 'replace' | 'remove'; readonly pointer: string }[];
}

/** Outcome of replaying recorded requests before a change. */
export interface ReplayReport {
  /** True if differences prevent the change. */
  readonly strict: boolean;
  /** Number of replayed requests. */
  readonly requests: number;
  /** Number of requests that were not replayed, because their recording is incomplete. */
  readonly incomplete: number;
  /** Number of requests to which the active configuration responds with a status other than the recorded one. */
  readonly unfaithful: number;
  /** Number of differences that the request for the change accepts. They are not in `changes`. */
  readonly accepted: number;
  /** The first differences. */
  readonly changes: readonly ReplayChange[];
  /** Number of differences omitted from `changes`. */
  readonly hidden: number;
  readonly durationMs: number;
  /** Reason why the replay failed; null if it did not. */
  readonly failure: string | null;
}
