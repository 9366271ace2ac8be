import type { Server } from 'node:net';
import type { Log, ServiceConfig } from '#contract';
import { LimitedLog } from '../../containment/limited-log.ts';

/**
 * Closes connections beyond `max_connections` as they are accepted, and logs this at most once a second.
 * @returns a function that applies the limit of another configuration; it never throws.
 */
export function limitConnections(server: Server, log: Log): (config: ServiceConfig) => void {
  const lines = new LimitedLog((line) => log.warning(line));
  // A worker at its limit closes connections itself. If it returned them, they would be passed from worker to worker
  // forever.
  Object.assign(server, { dropMaxConnection: true });
  server.on('drop', () => {
    lines.write('limit', `max_connections reached: closing new connections, ${server.maxConnections} are open`);
  });
  server.once('close', () => lines.close());
  return ({ max_connections: limit }) => {
    server.maxConnections = limit || Number.POSITIVE_INFINITY;
  };
}
