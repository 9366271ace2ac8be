import type { Call } from './call.ts';
import type { PipeRequest } from './message.ts';
import { definePort, type Port } from './port.ts';

/** How long a connection took to open, in milliseconds. */
export interface ConnectionTimes {
  /** Looking its name up; 0 for an address. */
  readonly dnsMs: number;
  readonly connectMs: number;
  /** The TLS handshake; 0 without TLS. */
  readonly tlsMs: number;
}

/** The connection that a request to a backend is sent on. */
export interface BackendConnection {
  /** As in `https://host:port`. */
  readonly origin: string;
  /** From when the request was ready until it was sent, in milliseconds. */
  readonly waitMs: number;
  /** An earlier request was sent on it; undefined where connections go through a proxy. */
  readonly reused: boolean | undefined;
  /** Null for one that was open already, and through a proxy. */
  readonly opened: ConnectionTimes | null;
}

/** Sees how HTTP requests to backends get their connections. Must not wait; what it throws is logged. */
export interface ConnectionObserver {
  /** A request is sent: once for each attempt, those that follow redirects included. */
  connected(connection: BackendConnection, request: PipeRequest, call: Call): void;
  /** The first byte of its answer is there. @param ms since it was sent. */
  responded?(ms: number, request: PipeRequest, call: Call): void;
}

/** Observers of the connections to backends, offered at the service, an endpoint or a backend. */
export const connectionObservers: Port<ConnectionObserver> = definePort('connection observers');
