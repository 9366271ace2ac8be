import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { freePort } from '../support/conditions.ts';
import { startBackend } from '../support/gateway.ts';
import { startGrpc } from '../support/grpc/server.ts';
import { startRedis, withoutRedis } from '../support/redis.ts';
import type { Surroundings } from './config.ts';

/** A single server that plays every server that the configuration calls. */
export async function startSurroundings(): Promise<
  Surroundings & { readonly gelfMessages: () => number; readonly influxLines: () => string; close(): Promise<void> }
> {
  let messages = 0;
  let influxLines = '';
  const gelf = createSocket('udp4', () => messages++).bind(0, '127.0.0.1');
  await once(gelf, 'listening');
  const backend = await startBackend(({ target, headers, body }, response) => {
    const respond = (body: object, more: object = {}) =>
      response.writeHead(200, { 'Content-Type': 'application/json', ...more }).end(JSON.stringify(body));
    const path = new URL(target, 'http://backend').pathname;
    if (/^\/v1\/(?:traces|metrics)$/.test(path))
      response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
    else if (path === '/write') {
      influxLines += String(body);
      response.writeHead(204).end();
    } else if (path === '/oauth/token')
      respond({ access_token: 'of-the-gateway', token_type: 'bearer', expires_in: 3600 });
    else if (path === '/introspect') respond({ active: true, sub: 'ada', scope: 'read' });
    else if (path === '/google/token') respond({ id_token: `e30.${btoa('{"exp":9999999999}').replace(/=+$/, '')}.` });
    else if (path === '/login') respond({ access_token: { sub: 'ada', roles: ['reader'] } });
    else if (path === '/v1/responses') {
      const content = [{ type: 'output_text', text: JSON.parse(String(body)).input }];
      respond({ output: [{ type: 'message', content }], usage: { total_tokens: 2 } });
    } else if (path === '/graphql') respond({ data: { user: JSON.parse(String(body)).variables } });
    else if (path.includes('/functions/orders/invocations')) respond({ invoked: JSON.parse(String(body)) });
    else if (path === '/orders') respond({ ordered: true });
    else if (path.startsWith('/shared/')) respond({ shared: headers.authorization }, { 'Cache-Control': 'max-age=1' });
    else respond({ user: headers['x-user'], round: Number(headers['x-round']) });
  });
  const grpc = await startGrpc({ Find: (_call, answer) => answer(null, { id: 'of-grpc' }) });
  const redis = withoutRedis ? null : await startRedis();
  return {
    upstream: backend.url,
    grpcHost: grpc.host,
    gelfPort: gelf.address().port,
    metricsPort: await freePort(),
    redisPort: redis?.port ?? (await freePort()),
    revokerPort: await freePort(),
    gelfMessages: () => messages,
    influxLines: () => influxLines,
    async close() {
      await redis?.close();
      gelf.close();
      await once(gelf, 'close');
      await backend.close();
      await grpc.close();
    },
  };
}
