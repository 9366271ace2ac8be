import type { Call } from './call.ts';
import type { PipeRequest } from './message.ts';
import { definePort, type Port } from './port.ts';

/** Durations of opening a connection, in milliseconds. */
export interface ConnectionTimes {
  /** DNS lookup; 0 for an IP address. */
  readonly dnsMs: number;
  readonly connectMs: number;
  /** TLS handshake; 0 without TLS. */
  readonly tlsMs: number;
}

/** The connection used for a backend request. */
export interface BackendConnection {
  /** Address of the server, for example `https://host:port`. */
  readonly origin: string;
  /** Time between the request being ready and being sent, in milliseconds. */
  readonly waitMs: number;
  /** True if an earlier request used the connection; undefined if connections go through a proxy. */
  readonly reused: boolean | undefined;
  /** Durations of opening the connection; null if it was already open, or goes through a proxy. */
  readonly opened: ConnectionTimes | null;
}

/** Observes how backend requests obtain their connections. Must be synchronous; exceptions are logged. */
export interface ConnectionObserver {
  /** Called for every request that is sent, including retries and followed redirects. */
  connected(connection: BackendConnection, request: PipeRequest, call: Call): void;
  /** Called when the first byte of the response has arrived. @param ms time since the request was sent. */
  responded?(ms: number, request: PipeRequest, call: Call): void;
}

/** Lets plugins add observers of backend connections, for the service, an endpoint or a backend. */
export const connectionObservers: Port<ConnectionObserver> = definePort('connection observers');
