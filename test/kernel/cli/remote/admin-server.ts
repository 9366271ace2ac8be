import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo, ListenOptions } from 'node:net';

/** A request that the admin port received. */
export interface SeenCall {
  /** `POST /v1/reload?force=true`. */
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Handler of a call, which returns a status and a JSON body or writes the response itself. */
export type Reply = readonly [status: number, body: unknown] | ((call: SeenCall, response: ServerResponse) => void);

/** An admin port with responses of the test. */
export interface AdminServer {
  /** `host:port`, or `unix:/path`. */
  readonly address: string;
  readonly calls: readonly SeenCall[];
  /** @param route method and path, without the query. */
  on(route: string, reply: Reply): void;
  /** Closes all connections and keeps listening. */
  cut(): void;
  close(): Promise<void>;
}

/** @param tls the certificate; without one, the port serves plain HTTP. */
export async function startAdminServer(
  at: ListenOptions = { port: 0, host: '127.0.0.1' },
  tls: ServerOptions | null = null,
): Promise<AdminServer> {
  const replies = new Map<string, Reply>();
  const calls: SeenCall[] = [];
  const received = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const call = { line: `${request.method} ${request.url}`, headers: request.headers, body };
    calls.push(call);
    const reply = replies.get(call.line.split('?')[0]!) ?? [404, { title: 'not found', status: 404 }];
    if (typeof reply === 'function') reply(call, response);
    else send(response, ...reply);
  };
  const server = tls ? createSecureServer(tls, received) : createServer(received);
  server.listen(at);
  await once(server, 'listening');
  return {
    address: at.path === undefined ? `127.0.0.1:${(server.address() as AddressInfo).port}` : `unix:${at.path}`,
    calls,
    on: (route, reply) => void replies.set(route, reply),
    cut: () => server.closeAllConnections(),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const type = status < 300 ? 'application/json' : 'application/problem+json';
  response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
}

/** Starts a stream of events; a client that loses the connection reconnects immediately. */
export function beginEvents(response: ServerResponse): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\nretry: 1\n\n');
  return response;
}

/** One event in wire format. */
export function eventText(id: number, type: string, data: object): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
