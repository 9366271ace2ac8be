import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { large, members, small } from './payloads.ts';

/**
 * The backend of every scenario, a process of its own: fixed bytes by path, as cheaply as node:http can. An unknown path
 * answers like `/small`. Tells its parent `{ port }` and ends with it.
 */

type Answer = { readonly headers: readonly string[]; readonly body: Buffer };

const responses = new Map<string, Answer>([
  ['/small', respond(small)],
  ['/large', respond(large)],
  ['/kept', respond(small, ['Cache-Control', 'public, max-age=86400'])],
  ['/part/a', respond(members.a)],
  ['/part/b', respond(members.b)],
  ['/part/c', respond(members.c)],
]);
const other = responses.get('/small')!;

function respond(data: unknown, more: readonly string[] = []): Answer {
  const body = Buffer.from(JSON.stringify(data));
  const headers = ['Content-Type', 'application/json', 'Content-Length', String(body.length), 'ETag', '"fixed"'];
  return { headers: [...headers, ...more], body };
}

const server = createServer((request, response) => {
  const { headers, body } = responses.get(request.url!) ?? other;
  response.writeHead(200, headers as string[]);
  response.end(body);
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once('disconnect', () => process.exit());
