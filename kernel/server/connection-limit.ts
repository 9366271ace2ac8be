import type { Server } from 'node:net';
import type { Log, ServiceConfig } from '#contract';
import { LimitedLog } from '../containment/limited-log.ts';

/**
 * Closes the connections beyond `max_connections` as they are accepted, and logs it at most once a second.
 * @returns a function that takes over the limit of another configuration and cannot fail.
 */
export function limitConnections(server: Server, log: Log): (config: ServiceConfig) => void {
  const lines = new LimitedLog((line) => log.warning(line));
  // A worker at its limit closes them itself: handed back, they would go from worker to worker without end.
  Object.assign(server, { dropMaxConnection: true });
  server.on('drop', () => {
    lines.write('limit', `max_connections reached: closing new connections, ${server.maxConnections} are open`);
  });
  server.once('close', () => lines.close());
  return ({ max_connections: limit }) => {
    server.maxConnections = limit || Number.POSITIVE_INFINITY;
  };
}
