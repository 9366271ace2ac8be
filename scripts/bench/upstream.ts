import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer as createFront } from 'node:net';
import { pipeline } from 'node:stream';
import { resources, small } from './payloads.ts';

/**
 * Backend of every scenario, as a separate process: serves fixed bytes by path, as cheaply as node:http allows. An
 * unknown path is served like `/small`; a posted body is echoed. Sends `{ port }` to its parent and exits with it.
 */

type Answer = { readonly headers: readonly string[]; readonly body: Buffer };

const responses = new Map<string, Answer>([
  ...Object.entries(resources).map(([path, data]) => [path, respond(data)] as const),
  ['/kept', respond(small, ['Cache-Control', 'public, max-age=86400'])],
]);
const other = responses.get('/small')!;

function respond(data: unknown, more: readonly string[] = []): Answer {
  const body = Buffer.from(JSON.stringify(data));
  const headers = ['Content-Type', 'application/json', 'Content-Length', String(body.length), 'ETag', '"fixed"'];
  return { headers: [...headers, ...more], body };
}

function sendBack(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, ['Content-Type', 'application/octet-stream', ...lengthOf(request)]);
  pipeline(request, response, () => {});
}

function lengthOf({ headers }: IncomingMessage): readonly string[] {
  const length = headers['content-length'];
  return length === undefined ? [] : ['Content-Length', length];
}

const server = createServer((request, response) => {
  if (request.method === 'POST') return sendBack(request, response);
  const { headers, body } = responses.get(request.url!) ?? other;
  response.writeHead(200, headers as string[]);
  response.end(body);
});
server.keepAliveTimeout = 0;

const http2 = createHttp2Server();
http2.on('stream', (stream, { ':path': path }) => {
  const { headers, body } = responses.get(path!) ?? other;
  const lower = headers.map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text));
  stream.respond([':status', '200', ...lower]);
  stream.end(body);
});

/** Both protocols are served on one port: HTTP/2 starts with `PRI`. */
const front = createFront((socket) => {
  const look = () => {
    const first = socket.read() as Buffer | null;
    if (first === null) return;
    socket.off('readable', look);
    socket.unshift(first);
    (String(first).startsWith('PRI') ? http2 : server).emit('connection', socket);
  };
  socket.on('readable', look);
  socket.on('error', () => {});
});
front.listen(0, '127.0.0.1', () => process.send?.({ port: (front.address() as AddressInfo).port }));
process.once('disconnect', () => process.exit());
