/** A request that a gateway in a sandbox would send to a server. */
export interface SandboxRequest {
  /** Protocol of the request: `http`, or the namespace of the component that would send it, for example `backend/grpc`. */
  readonly protocol: string;
  readonly method: string;
  /** Absolute URL without credentials, for example `http://users:8000/users/1?full=1`. */
  readonly url: string;
  /** Alternating names and values, as sent. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

/** Failures of a connection to a server. `hang` never responds; it lasts until the call is canceled. */
export type SandboxFailure = 'refused' | 'reset' | 'timeout' | 'dns' | 'tls' | 'hang';

/** Response of a mocked server. */
export interface SandboxResponse {
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** Time until the response, or the failure, in milliseconds. */
  readonly delayMs: number;
  /** A failure in place of a response. */
  readonly failure?: SandboxFailure | undefined;
}

/**
 * Replaces the network of a gateway that is only tested: requests to servers are answered here, after all processing in
 * the gateway, and other connections are refused.
 */
export interface Sandbox {
  /** Whether requests for which the sandbox has no response, and all other connections, may use the network. */
  readonly network: boolean;
  /** Maximum size of a request body, in bytes. Longer bodies fail the call. */
  readonly bodyLimitBytes: number;
  /**
   * Responds in place of the server. Null sends the request for real.
   * @throws CallError, which fails the call.
   */
  respond(request: SandboxRequest): SandboxResponse | null;
  /**
   * Runs a function that opens the connection of a request that is sent for real: what it opens synchronously is not
   * refused. Absent if the network permits no single connections.
   */
  readonly dial?: <T>(open: () => T) => T;
  /** Reports that the running request lacks a connection that the sandbox does not open. */
  refused(owner: string): void;
  /** Whether work between requests, such as agents, schedules and exports, is started. */
  readonly background: boolean;
}
