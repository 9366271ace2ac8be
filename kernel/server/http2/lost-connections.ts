import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { isDisconnected } from '../port/internals.ts';
import { connections } from './messages.ts';

/** Interval between two checks, in milliseconds. */
const CHECK_MS = 1_000;

/**
 * Closes TLS connections that the client has reset without Node.js noticing. After a write that fails while received
 * data is processed, Node.js queues the next write forever and reads nothing meanwhile, not even the reset; the session
 * and its requests would stay.
 * @param sessions the open sessions. @returns a function to call when a session is added.
 */
export function closeLost(sessions: ReadonlySet<ServerHttp2Session>): () => void {
  let isWatching = false;
  const watch = (): void => {
    isWatching = sessions.size > 0;
    if (isWatching) setTimeout(check, CHECK_MS).unref();
  };
  const check = (): void => {
    for (const session of sessions) {
      const connection = connections.get(session) as Socket | undefined;
      if (session.encrypted && connection && isDisconnected(connection)) connection.destroy();
    }
    watch();
  };
  return () => {
    if (!isWatching) watch();
  };
}
