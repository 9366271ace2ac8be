import type { ReplayChange } from './replay-report.ts';

/** State of a shadow run. `superseded` if another configuration began to serve, `failed` if its process ended. */
export type ShadowState = 'running' | 'finished' | 'stopped' | 'superseded' | 'failed';

/** Requests of clients that were due for the sample and are not compared, by reason. */
export interface ShadowSkipped {
  /** Too many samples were in progress. */
  readonly busy: number;
  /** The client disconnected before the end of the response. */
  readonly incomplete: number;
  /** The request or its response cannot be repeated, for example a request with a body or a client certificate. */
  readonly unsuitable: number;
  /** The candidate had used its share of the processor. */
  readonly budget: number;
  /** The active configuration rejected the request with 429. */
  readonly limited: number;
}

/** Observations of the process of a candidate so far. Contains no values, which may be data of clients. */
export interface ShadowFindings {
  /** Number of requests whose responses were compared. */
  readonly compared: number;
  /** Number of compared requests with differences. */
  readonly different: number;
  /** Number of compared requests with differences that did not occur again, or that the active configuration shows as well when the request is repeated. */
  readonly unstable: number;
  /** Number of requests that differ, perhaps because a connection or a request to a server was refused. */
  readonly refused: number;
  /** Requests of components that were refused, for example `POST http://tokens:8000`. */
  readonly refusals: readonly string[];
  /** The first differences. */
  readonly changes: readonly ReplayChange[];
  /** Number of differences omitted from `changes`. */
  readonly hidden: number;
  /** Processor time of the candidate's process, in milliseconds. */
  readonly cpuMs: number;
}

/** State and result of a shadow run: a configuration receives copies of requests, and is compared with the active one. */
export interface ShadowReport extends ShadowFindings {
  readonly state: ShadowState;
  /** Attempt that started the run. */
  readonly attempt: number;
  /** Revision whose responses are compared with those of the candidate. */
  readonly revision: number;
  /** Fraction of the safe requests that are copied. */
  readonly sample: number;
  /** Start time, in ISO 8601. */
  readonly startedAt: string;
  /** Time at which the run ends, or has ended, in ISO 8601. */
  readonly endsAt: string;
  readonly skipped: ShadowSkipped;
  /** Reason why the run ended early; null if it did not. */
  readonly reason: string | null;
}
