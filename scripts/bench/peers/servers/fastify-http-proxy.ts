import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { changes, type Data, paths } from '../../work.ts';

const [packages = '', scenario = '', port, upstream] = process.argv.slice(2);
const require = createRequire(`${packages}/package.json`);
const change = changes[scenario];

interface Reply {
  readonly raw: ServerResponse;
  send(body: unknown): void;
  removeHeader(name: string): void;
}

async function respond(_request: unknown, reply: Reply, { stream }: { stream: Readable }): Promise<void> {
  try {
    reply.removeHeader('content-length');
    reply.send(change!((await json(stream)) as Data));
  } catch {
    reply.raw.destroy();
  }
}

const server = require('fastify')();
server.register(require('@fastify/http-proxy'), {
  upstream,
  prefix: `/bench/${scenario}`,
  rewritePrefix: paths[scenario]![0],
  ...(change && { replyOptions: { onResponse: respond } }),
});
await server.listen({ port: Number(port), host: '127.0.0.1' });
