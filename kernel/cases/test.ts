import type { Data, SandboxRequest } from '#contract';
import type { Mock } from './mock.ts';

/** Request of a client. */
export interface TestRequest {
  readonly method: string;
  /** Path and query, encoded. */
  readonly path: string;
  /** Alternating names and values. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
}

/** Response to a client. */
export interface TestResponse {
  readonly status: number;
  /** All values of each header, by lower-case name. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: Uint8Array;
  /** Time until the end of the response, in milliseconds. */
  readonly ms: number;
}

/** Result in place of a response that did not arrive. */
export const noResponse: TestResponse = { status: 0, headers: new Map(), body: new Uint8Array(), ms: 0 };

/** Observations of one test, to which its expectations are compared. */
export interface Outcome {
  readonly response: TestResponse;
  /** Requests to mocked servers by the name of the mock; null if servers were not mocked. */
  readonly calls: ReadonlyMap<string, readonly SandboxRequest[]> | null;
}

/** An expectation that was not met. */
export interface Failure {
  /** JSON pointer of the expectation in its file. */
  readonly pointer: string;
  /** One sentence, for example `status is 404, not 200`. */
  readonly message: string;
  /** Differences: `-` for expected, `+` for actual. */
  readonly lines: readonly string[];
  /** The value that the expectation must have to be met; absent for an expectation without one. */
  readonly actual?: Data;
}

/** Checks an expectation. */
export type Check = (outcome: Outcome) => readonly Failure[];

/** A test, ready to run. */
export interface Test {
  readonly name: string;
  /** JSON pointer of the test in its file. */
  readonly pointer: string;
  /** JSON pointer of the test's expectations, and whether the file contains them. */
  readonly expect: { readonly pointer: string; readonly isWritten: boolean };
  readonly request: TestRequest;
  readonly mocks: readonly Mock[];
  readonly checks: readonly Check[];
  readonly advanceMs: number;
  readonly timeoutMs: number;
}
