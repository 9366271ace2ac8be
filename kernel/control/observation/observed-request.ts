import type { PipeStages } from '../../pipeline/steps/stages.ts';
import type { ComponentState } from '../../pipeline/traffic/observer.ts';

/** A message of an observed request, with credentials masked. */
export interface ObservedMessage {
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Text of the body; null if it is omitted. */
  readonly body: string | null;
  /** Reason why the body is omitted; null if it is not. */
  readonly omitted: string | null;
}

/** Times of the stages of an observed request, in microseconds, including time spent waiting. */
export interface ObservedTimes {
  /** The whole pipe. */
  readonly pipeUs: number;
  /** By the index of the stage, without the stages inside it; null for a stage that is not timed. */
  readonly aroundUs: readonly (number | null)[];
  readonly backends: readonly {
    /** Number of calls of the backend's pipe. */
    readonly calls: number;
    readonly totalUs: number;
    readonly stagesUs: readonly (number | null)[];
  }[];
}

/** A sampled request: its stages were timed, and its messages captured. */
export interface ObservedSample {
  readonly times: ObservedTimes | null;
  readonly request: ObservedMessage;
  readonly response: ObservedMessage;
}

/** A finished request of a client to an observed endpoint. */
export interface ObservedRequest {
  /** Number of the request in its process, from 1. */
  readonly number: number;
  /** Time of its arrival, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly method: string;
  /** Path and query, with credentials masked. */
  readonly target: string;
  readonly requestId: string | null;
  readonly status: number;
  /** Time until its response was sent, in milliseconds. */
  readonly durationMs: number;
  /** Whether the response was sent completely. */
  readonly completed: boolean;
  /** Null for a request that was not sampled. */
  readonly sample: ObservedSample | null;
}

/** Observations of an endpoint in one process, since the previous ones were taken. */
export interface ObservedPart {
  /** Process ID. */
  readonly pid: number;
  /** Number of finished requests. */
  readonly finished: number;
  /** The sampled requests, and the slowest of the others. */
  readonly requests: readonly ObservedRequest[];
  readonly stages: PipeStages;
  /** States of the components in the process. */
  readonly states: readonly ComponentState[];
}
