import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The server behind the gateway. */
export interface Backend {
  readonly host: string;
  /** Responses to `/held` and `/stream` that have not ended, oldest first. */
  readonly held: Set<ServerResponse>;
  /** Ends the responses that are held open. */
  release(): void;
  /** Number of requests for `/kept`, whose response may be cached for a day. */
  readonly fetched: number;
  close(): void;
}

export async function openBackend(): Promise<Backend> {
  const held = new Set<ServerResponse>();
  let fetched = 0;
  const server = createServer((request, response) => {
    response.setHeader('content-type', request.url === '/stream' ? 'text/event-stream' : 'application/json');
    if (request.url === '/held') held.add(response);
    else if (request.url === '/stream') {
      response.write('data: {"begun":1}\n\n');
      held.add(response);
    } else if (request.url === '/kept') {
      fetched += 1;
      response.setHeader('cache-control', 'max-age=86400');
      response.end(`{"fetch":${fetched}}`);
    } else response.end('{"ok":1}');
    response.once('close', () => held.delete(response));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    host: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held,
    release() {
      for (const response of held) response.end(response.headersSent ? 'data: {"ended":1}\n\n' : '{"held":1}');
    },
    get fetched() {
      return fetched;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
