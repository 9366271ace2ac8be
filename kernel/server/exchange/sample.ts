/** A request of a client and its response, copied for a process that repeats the request. Kept in memory only. */
export interface Sample {
  /** Revision of the configuration that served the request. */
  readonly revision: number;
  readonly request: {
    readonly method: string;
    /** Request target, as received. */
    readonly url: string;
    /** Alternating names and values, as received. */
    readonly headers: readonly string[];
    /** Address of the connection's other end; empty for a Unix socket. */
    readonly address: string;
    readonly isEncrypted: boolean;
  };
  readonly response: {
    readonly status: number;
    readonly headers: readonly (readonly [name: string, value: string])[];
    /** Body as sent, perhaps compressed; null if it exceeds the limit. */
    readonly body: Uint8Array | null;
  };
}

/** Reasons why requests that were due for sampling are not compared. */
export interface Skipped {
  /** Too many samples were in progress. */
  readonly busy: number;
  /** The client disconnected before the end of the response. */
  readonly incomplete: number;
  /** The request has a body, requests an upgrade or came with a client certificate, or the response is an event stream. */
  readonly unsuitable: number;
}

/** Samples of one process, with the number of requests skipped since the last batch. */
export interface SampleBatch {
  readonly sample: Sample | null;
  readonly skipped: Skipped;
}

/** An order to sample the requests of clients. */
export interface Sampling {
  /** Fraction of the safe requests to sample, above 0 and at most 1. */
  readonly rate: number;
  /** Receives each sample. The sampler keeps at most 64 samples of a process until their promises have settled. */
  receive(batch: SampleBatch): Promise<unknown>;
}
