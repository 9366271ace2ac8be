import { AsyncLocalStorage } from 'node:async_hooks';
import type { LogLevel, SandboxRequest, SandboxResponse } from '#contract';
import type { Frozen } from '../values/frozen.ts';

/** A connection that was refused. */
export interface RefusedConnection {
  /** Component or kind of connection, for example `redis connection of cache:6379`. */
  readonly owner: string;
  /** Destination, for example `10.0.0.1:6379` or `/run/server.sock`; empty for a connection that was not attempted. */
  readonly address: string;
}

/**
 * Decides how requests to servers and connections are handled, for one test or for work that the gateway does on its
 * own.
 */
export interface Session {
  /** Time and random values of its code. Default: those of the system. */
  readonly frozen?: Frozen | undefined;
  /** Whether lookups of services reach the name server. Default: false. */
  readonly looksUp?: boolean;
  /** Responds in place of the server. Null sends the request for real. */
  respond(request: SandboxRequest): SandboxResponse | null;
  /** Called for each refused connection. */
  refused(connection: RefusedConnection): void;
  /** Called for each line of the gateway's logs. */
  logged(line: string, level: LogLevel): void;
}

const sessions = new AsyncLocalStorage<Session>();

/** Runs a function, and everything that it starts, in a session. */
export function within<T>(session: Session, run: () => T): T {
  return sessions.run(session, run);
}

/** The session of the running code; undefined outside of every sandbox. */
export function currentSession(): Session | undefined {
  return sessions.getStore();
}
