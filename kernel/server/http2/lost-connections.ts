import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { runUnowned } from '../../contract/internal.ts';
import { isDisconnected, readAgain, untaken } from '../port/internals.ts';
import { Progress } from '../port/progress.ts';
import { connections } from './messages.ts';

/** Interval between two checks, in milliseconds. */
const CHECK_MS = 1_000;
/** Time that a client has to close a connection whose session is over, since it last sent or read something. */
const CLOSE_MS = 5_000;

/**
 * Closes connections that Node.js would keep open:
 * - TLS connections that the client has reset. After a write that fails while received data is processed, Node.js queues
 *   the next write forever and reads nothing meanwhile, not even the reset; the session and its requests would stay.
 * - Connections whose client has announced their end (GOAWAY) and then violates the protocol: Node.js reads nothing from
 *   then on, not even the end of the connection, and their requests would stay.
 * - Connections whose session is over. Node.js waits for the client to read what was sent and to close its side.
 * @param sessions the open sessions. @param sendTimeout limit for a client that stops reading, in milliseconds; 0 disables it.
 * @returns a function to call when a session is added.
 */
export function closeLost(sessions: ReadonlySet<ServerHttp2Session>, sendTimeout: () => number): () => void {
  const ending = new WeakMap<ServerHttp2Session, Progress>();
  let isWatching = false;
  /** Time is counted in checks, so that a blocked process does not close connections that it has not checked. */
  let now = 0;
  const watch = (): void => {
    isWatching = sessions.size > 0;
    if (isWatching) runUnowned(() => setTimeout(check, CHECK_MS).unref());
  };
  const isStalled = (session: ServerHttp2Session, connection: Socket): boolean => {
    const progress = ending.get(session) ?? new Progress();
    ending.set(session, progress);
    const rest = untaken(connection);
    const stalledMs = progress.stalledMs({ waits: true, bytes: connection.bytesRead, rest }, now);
    return stalledMs >= (rest === 0 ? CLOSE_MS : sendTimeout() || Number.POSITIVE_INFINITY);
  };
  const check = (): void => {
    now += CHECK_MS;
    // The next check is scheduled first, so that an error in this one does not end the checks.
    watch();
    for (const session of sessions) {
      const connection = connections.get(session) as Socket | undefined;
      if (!connection) continue;
      if (session.closed && !session.destroyed) closeEnded(connection);
      const isReset = session.encrypted && isDisconnected(connection);
      if (isReset || (session.destroyed && isStalled(session, connection))) connection.destroy();
    }
  };
  return () => {
    if (!isWatching) watch();
  };
}

/** Closes a connection whose client has closed its side, and notices that it has. */
function closeEnded(connection: Socket): void {
  if (connection.readableEnded) connection.destroy();
  else readAgain(connection);
}
