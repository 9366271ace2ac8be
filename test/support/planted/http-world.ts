import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request, type ServerResponse } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, createServer as createTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket, WebSocketServer } from 'ws';
import { startAdmin } from '../../../admin/index.ts';
import { createSinks } from '../../../kernel/logging/index.ts';
import type { createGateway } from '../../../kernel/sluice.ts';
import { freePort, until } from '../conditions.ts';
import { openGateway } from '../gateway.ts';
import { startGrpc } from '../grpc/server.ts';
import { startRedis, withoutRedis } from '../redis.ts';
import type { World } from './world.ts';

/** Clients of every protocol, backends over HTTP, gRPC and WebSocket, Redis, telemetry, the admin port and watched files. */
export async function makeWorld(write: (line: string) => void): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-planted-'));
  const at = (name: string) => join(folder, name);
  let held: ServerResponse | null = null;
  let exports = 0;
  let abandoned = 0;
  let pushes = 0;
  const backend = createServer((message, response) => {
    message.resume();
    if (message.url === '/held') held = response;
    else if (message.url === '/abandoned') abandoned++;
    else if (message.url!.startsWith('/v1/')) response.end(String(exports++));
    else if (message.url!.startsWith('/write')) response.writeHead(204).end(void pushes++);
    else message.once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'));
  }).listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const sockets = new WebSocketServer({ server: backend });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data.toString())));
  const port = (backend.address() as AddressInfo).port;
  const host = [`http://127.0.0.1:${port}`];
  const grpc = await startGrpc({ Find: (_call, answer) => answer(null, { id: 'a' }) });
  const redis = withoutRedis ? null : await startRedis();
  let graylog = 0;
  const gelf = createTcp((socket) => socket.on('error', () => {}).on('data', () => graylog++)).listen(0, '127.0.0.1');
  await once(gelf, 'listening');
  const metricsPort = await freePort();

  writeFileSync(at('team.js'), isolated);
  writeFileSync(at('strings.json'), '{"a":"b"}');
  let round = 0;
  const plain = (path: string, more: object = {}, method = 'GET') => ({
    endpoint: path,
    method,
    timeout: '100s',
    backend: [{ host, url_pattern: path }],
    ...more,
  });
  const config = () => ({
    version: 3,
    name: `planted ${round}`,
    listen_ip: '127.0.0.1',
    use_h2c: true,
    plugin: { folder: folder + '/' },
    extra_config: {
      'auth/basic': { users: { ada: '$2b$04$9cyTj46YeNWDwCIIuQ/v/.JNO9zLDIKLKJFcbv9rqWoW.JmJYtntu' } },
      'admin/reload': { drain_timeout: '600s', max_draining: 100 },
      grpc: { catalog: ['test/support/grpc/shop.pb'] },
      'telemetry/logging': { level: 'INFO', stdout: true },
      'telemetry/gelf': { address: `127.0.0.1:${(gelf.address() as AddressInfo).port}`, enable_tcp: true },
      'telemetry/influx': { address: host[0], ttl: '100ms' },
      'telemetry/metrics': { collection_time: '100ms', endpoint_disabled: true },
      'telemetry/opentelemetry': {
        metric_reporting_period: 1,
        exporters: {
          prometheus: [{ name: 'local', port: metricsPort, listen_ip: '127.0.0.1' }],
          otlp: [{ name: 'collector', host: '127.0.0.1', port, use_http: true }],
        },
      },
      ...(redis && { redis: { connection_pools: [{ name: 'counters', address: `127.0.0.1:${redis.port}` }] } }),
    },
    endpoints: [
      plain('/held'),
      plain('/abandoned'),
      plain('/quick'),
      plain('/upload', { output_encoding: 'no-op' }, 'POST'),
      plain('/basic', { extra_config: { 'auth/basic': {} } }),
      plain('/isolated', { extra_config: { 'plugin/middleware': { name: ['team'] } } }),
      ...(redis
        ? [
            plain('/counted', {
              extra_config: {
                'qos/ratelimit/router/redis': { connection_name: 'counters', client_max_rate: 1e6, strategy: 'ip' },
              },
            }),
          ]
        : []),
      {
        endpoint: '/things/{name}',
        backend: [{ host: [grpc.host], url_pattern: '/shop.Shop/Find', extra_config: { 'backend/grpc': {} } }],
      },
      {
        endpoint: '/socket',
        extra_config: { websocket: { enable_direct_communication: true } },
        backend: [{ host: [`ws://127.0.0.1:${port}`], disable_host_sanitize: true, url_pattern: '/socket' }],
      },
    ],
  });
  const save = () => writeFileSync(at('gateway.json'), JSON.stringify(config()));
  save();
  const output = {
    write(bytes: Uint8Array, done: () => void): void {
      for (const line of Buffer.from(bytes).toString().split('\n')) write(line);
      done();
    },
  };
  const sinks = createSinks({ stdout: output, stderr: output });
  const gateway = await openGateway(at('gateway.json') as Parameters<typeof createGateway>[0], { port: 0, sinks });
  const { port: own } = await gateway.listen();
  await gateway.watch();
  const admin = await startAdmin(gateway, {
    listen: '127.0.0.1:0',
    token: 'sesame',
    stateDirectory: folder,
    stop: () => {},
  });
  const url = `http://127.0.0.1:${own}`;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  const ask = (path: string, status = 200, options: object = {}, body?: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const whole = `${path.startsWith('/') ? url : ''}${path}`;
      const sent = request(whole, { agent, timeout: 2_000, ...options }, (response) => {
        response.resume().once('close', () => {
          if (response.statusCode === status && response.complete) resolve();
          else reject(new Error(`${path}: ${response.statusCode}`));
        });
      });
      sent.on('error', reject).on('timeout', () => sent.destroy(new Error(`${path}: no response`)));
      sent.end(body);
    });
  const overHttp2 = (path: string, body?: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const session = connectHttp2(url).on('error', reject);
      session.setTimeout(2_000, () => session.destroy(new Error(`${path}: no response`)));
      const stream = session.request({ ':path': path, ':method': body ? 'POST' : 'GET' }).on('error', reject);
      stream.once('response', (headers) => {
        stream.resume().once('close', () => {
          session.close();
          if (headers[':status'] === 200) resolve();
          else reject(new Error(`${path}: ${headers[':status']}`));
        });
      });
      stream.end(body);
    });
  const overSocket = async (): Promise<void> => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/socket`);
    const failed = once(socket, 'error').then(([error]) => Promise.reject(error));
    failed.catch(() => {});
    const closed = once(socket, 'close').then(() => Promise.reject(new Error('closed')));
    closed.catch(() => {});
    const opened = once(socket, 'open');
    opened.catch(() => {});
    await Promise.race([opened, failed, closed]);
    socket.send('hello');
    const heard = once(socket, 'message');
    heard.catch(() => {});
    await Promise.race([heard, failed, closed]);
    socket.ping();
    socket.close(1000);
    await closed.catch(() => {});
  };
  const leave = async (): Promise<void> => {
    const before = abandoned;
    const socket = connect(own, '127.0.0.1').on('error', () => {});
    socket.write('GET /abandoned HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n');
    await until(() => abandoned > before || socket.destroyed);
    socket.destroy();
  };
  const fails = (bytes: string): Promise<unknown> => {
    const socket = connect(own, '127.0.0.1').on('error', () => {});
    socket.resume().write(bytes);
    return once(socket, 'close');
  };
  const isSaved = async (): Promise<void> => {
    round += 1;
    save();
    const name = `planted ${round}`;
    await until(() => gateway.serving.config.name === name);
  };
  const later = async (count: () => number, path?: string): Promise<void> => {
    const before = count();
    await until(async () => {
      if (path) await ask(path);
      return count() > before + 1;
    });
  };
  const headers = { authorization: 'Bearer sesame' };
  return {
    gateway,
    url,
    steps: {
      'HTTP/1': () => ask('/quick'),
      'an upload': () =>
        ask('/upload', 200, { method: 'POST', headers: { expect: '100-continue' } }, 'a'.repeat(100_000)),
      'a fresh connection': () => ask('/quick', 200, { agent: false }),
      'an unknown path': () => ask('/nothing', 404),
      'a client that disconnects': leave,
      'bytes that are not a request': () => fails('nonsense\r\n\r\n'),
      'HTTP/2': () => overHttp2('/quick'),
      'an upload over HTTP/2': () => overHttp2('/upload', 'a'.repeat(100_000)),
      WebSocket: overSocket,
      gRPC: () => ask('/things/a'),
      passwords: () => ask('/basic', 200, { auth: `ada:p` }),
      'an isolated plugin': () => ask('/isolated'),
      ...(redis && { Redis: () => ask('/counted') }),
      'the admin port': () => ask(`http://${admin.address}/v1/status`, 200, { headers, agent: false }),
      'a reload by the admin port': () =>
        ask(`http://${admin.address}/v1/reload`, 200, { method: 'POST', headers, agent: false }),
      'a metrics port': () => ask(`http://127.0.0.1:${metricsPort}/metrics`, 200, { agent: false }),
      'spans and metrics': () => later(() => exports, '/quick'),
      'measurements for InfluxDB': () => later(() => pushes, '/quick'),
      'a log over TCP': () => later(() => graylog, '/quick'),
      'a saved configuration': isSaved,
    },
    isHeld: () => held !== null,
    async release() {
      held!.end('{}');
    },
    async close() {
      await admin.close();
      await gateway.close();
      await grpc.close();
      await redis?.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const isolated = `
export const plugin = {
  name: 'team', apiVersion: 1, isolate: true,
  middleware: () => async (ctx, request, next) => next(request),
};
`;
