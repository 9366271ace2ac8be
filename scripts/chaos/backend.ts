import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Size of the response under `/big/`, in bytes. */
export const BIG_BYTES = 256 * 1024;

/** JSON body of the responses under all other paths. */
export interface BackendReply {
  /** Revision of the gateway's configuration, taken from the request path. */
  readonly revision: number;
  /** Size of the request's body, in bytes. */
  readonly received: number;
}

/** Starts a backend whose responses repeat the configuration revision that the request path contains. */
export async function startBackend(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const [, kind, revision] = request.url!.split('/');
    const respond = responses[kind!] ?? report;
    respond(request, response, Number(revision));
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => {
    server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Answer = (request: IncomingMessage, response: ServerResponse, revision: number) => void;

const responses: Readonly<Record<string, Answer>> = { big, events };

function report(request: IncomingMessage, response: ServerResponse, revision: number): void {
  let received = 0;
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  request.on('end', () => {
    const body = JSON.stringify({ revision, received } satisfies BackendReply);
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
  });
}

/** Many bytes, each the revision's last digit. */
function big(request: IncomingMessage, response: ServerResponse, revision: number): void {
  request.resume();
  response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
  const chunk = Buffer.alloc(BIG_BYTES / 16, String(revision % 10));
  let left = 16;
  const write = (): void => {
    while (left > 0) {
      left--;
      if (!response.write(chunk)) return void response.once('drain', write);
    }
    response.end();
  };
  write();
}

const EVENT_MS = 20;

/** Sends increasing numbers for as long as the client is connected. */
function events(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  let count = 0;
  const timer = setInterval(() => response.write(`data: {"count":${++count}}\n\n`), EVENT_MS);
  response.once('close', () => clearInterval(timer));
}
