import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import type { Log } from '#contract';
import { LimitedLog } from '../../containment/limited-log.ts';

/** Maximum number of characters of a target in a log line. */
const SHOWN = 200;

/** Logs requests that are rejected with 414, at most once a second. */
export type LogRefusedQuery = (message: Pick<IncomingMessage, 'method' | 'url'>) => void;

/** @param server server whose end closes the log. */
export function refusedQueryLog(server: Server, log: Log): LogRefusedQuery {
  const lines = new LimitedLog((line) => log.warning(line));
  server.once('close', () => lines.close());
  return ({ method, url }) => {
    const [path = ''] = url!.slice(0, SHOWN).split('?', 1);
    lines.write(
      'query',
      `request rejected with 414: ${method} ${JSON.stringify(path)} has more than 1,000 query parameters`,
    );
  };
}
