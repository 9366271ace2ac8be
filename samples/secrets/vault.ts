import { createServer, type IncomingMessage } from 'node:http';

/**
 * A server with a key/value engine of version 2 at `kv/`, for this sample only: it keeps everything in memory, and
 * accepts one token. `vault server -dev` and `bao server -dev` have the same API.
 */
const secrets = new Map([['shop', { key: 'shop-key-1' }]]);
const token = 'sample-token';

/** Path of a secret in the API, by name. */
const PATH = /^\/v1\/kv\/data\/([\w-]+)$/;

async function bodyOf(message: IncomingMessage): Promise<{ readonly data: { readonly key: string } }> {
  let text = '';
  for await (const chunk of message) text += chunk;
  return JSON.parse(text);
}

const [url = 'http://localhost:8200'] = process.argv.slice(2);
const { hostname, port } = new URL(url);

createServer(async (message, response) => {
  const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
  const { method, headers, url: path = '' } = message;
  const [, name = ''] = PATH.exec(path) ?? [];
  if (headers['x-vault-token'] !== token) return answer(403, { errors: ['permission denied'] });
  if (path === '/v1/auth/token/lookup-self') return answer(200, { data: { ttl: 0, renewable: false } });
  if (path.startsWith('/v1/sys/internal/ui/mounts/kv/')) {
    return answer(200, { data: { path: 'kv/', type: 'kv', options: { version: '2' } } });
  }
  if (method === 'POST' && name !== '') {
    secrets.set(name, (await bodyOf(message)).data);
    return answer(200, { data: { version: 2 } });
  }
  const data = secrets.get(name);
  return data ? answer(200, { data: { data, metadata: {} } }) : answer(404, { errors: [] });
}).listen(Number(port), hostname, () => console.log(`a store of secrets is at ${url}`));
