import { equal, ok } from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { atEndpoint, definePlugin, HeaderBag, Reply } from '#contract';
import type { Operations } from '#kernel';
import { until } from '../../support/conditions.ts';
import { rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';
import { ask } from './ask.ts';

/** Number of bytes that exceeds the buffers of a connection. */
const LARGE_BYTES = 24 * 1024 * 1024;

/** Switches to the protocol `flood`, which sends more than the buffers of a client that does not read. */
const flood = definePlugin({
  name: 'test/flood',
  description: 'Says a lot.',
  places: [
    atEndpoint({ type: 'object', properties: {} }, () => ({
      upgrades: ['flood'],
      proxy: () => async () => {
        const take = (connection: Duplex): void => {
          connection.on('error', () => {});
          connection.write(Buffer.alloc(LARGE_BYTES));
        };
        return Reply.upgraded({ take, end: () => {} }, new HeaderBag());
      },
    })),
  ],
});

/** A response in one piece, a streamed response that is complete, and one that continues. */
const paths = ['/json', '/whole', '/partly'] as const;

/** Clients that request a response and never read it. Each returns a function that closes it. */
type Client = (port: number, path: string) => Promise<() => void>;

const http1: Client = async (port, path) => {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  const upgrade = path === '/upgraded' ? 'Connection: Upgrade\r\nUpgrade: flood\r\n' : '';
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`);
  await once(socket, 'readable');
  return () => socket.destroy();
};

const http2 = async (port: number, path: string, windowBytes: number): Promise<ClientHttp2Session> => {
  const settings = { initialWindowSize: windowBytes };
  const session = connectHttp2(`http://127.0.0.1:${port}`, { settings }).on('error', () => {});
  const stream = session.request({ ':path': path }).on('error', () => {});
  await once(stream, 'response');
  return session;
};

const clients: readonly (readonly [name: string, client: Client])[] = [
  ['HTTP/1.1', http1],
  [
    'HTTP/2 with no window',
    async (port, path) => {
      const session = await http2(port, path, 1000);
      return () => session.destroy();
    },
  ],
  [
    'HTTP/2 whose connection is not read',
    async (port, path) => {
      let raw: Socket;
      const session = connectHttp2(`http://127.0.0.1:${port}`, {
        settings: { initialWindowSize: 2 ** 31 - 1 },
        createConnection: () => (raw = connect(port, '127.0.0.1')),
      }).on('error', () => {});
      session.once('connect', () => session.setLocalWindowSize(2 ** 31 - 1));
      const stream = session.request({ ':path': path }).on('error', () => {});
      await once(stream, 'response');
      (raw! as Socket & { _handle: { readStop(): void } })._handle.readStop();
      return () => {
        session.destroy();
        raw.destroy();
      };
    },
  ],
];

describe('a response that its client never reads', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let sinks: ReturnType<typeof rememberingSinks>;
  let leave: () => void;
  const held = new Set<ServerResponse>();

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      held.add(response);
      response.once('close', () => held.delete(response));
      if (target === '/json') response.end(JSON.stringify({ a: 'a'.repeat(LARGE_BYTES) }));
      else if (target === '/whole') response.end(Buffer.alloc(LARGE_BYTES));
      else response.write(Buffer.alloc(LARGE_BYTES));
    });
  });
  afterEach(async () => {
    leave();
    await gateway.close();
  });
  after(() => backend.close());

  const config = (more: object) => {
    const host = [backend.url];
    const raw = (path: string) => ({
      endpoint: path,
      timeout: '10m',
      output_encoding: 'no-op',
      backend: [{ url_pattern: path, encoding: 'no-op', host }],
    });
    return {
      use_h2c: true,
      endpoints: [
        { endpoint: '/json', timeout: '10m', backend: [{ url_pattern: '/json', host }] },
        raw('/whole'),
        raw('/partly'),
        { ...raw('/upgraded'), extra_config: { 'test/flood': {} } },
      ],
      ...more,
    };
  };

  const start = async (more: object): Promise<number> => {
    sinks = rememberingSinks();
    gateway = await startWith([flood], config(more), { sinks });
    return (await gateway.listen()).port;
  };

  const idle = (): boolean => gateway.status.calls === 0 && gateway.status.streams === 0;

  for (const [name, client] of clients) {
    for (const path of client === http1 ? [...paths, '/upgraded'] : paths) {
      it(`is aborted after send_timeout, and so is its backend request: ${path} over ${name}`, async () => {
        const port = await start({ send_timeout: '200ms' });
        leave = await client(port, path);
        await until(() => idle() && (path === '/json' || held.size === 0));
        ok(sinks.lines.some((line) => line.includes('client stopped reading for 200 ms')));
        equal((await ask(port, 'GET /none')).status, 404);
      });
    }
  }

  it('does not keep its configuration active longer than drain_timeout, over any protocol', async () => {
    const port = await start({ send_timeout: '0s' });
    const asking = clients.flatMap(([, client]) => paths.map((path) => client(port, path)));
    const leaving = await Promise.all([...asking, http1(port, '/upgraded')]);
    leave = () => {
      for (const one of leaving) one();
    };
    const reload = { drain_timeout: '10ms', stream_drain: '10ms' };
    const endpoints = [{ endpoint: '/new', backend: [{ url_pattern: '/', host: [backend.url] }] }];
    await gateway.reload({ version: 3, use_h2c: true, endpoints, extra_config: { 'admin/reload': reload } });
    await until(() => idle() && gateway.status.draining === 0 && held.size === 0);
  });

  it('arrives completely over HTTP/2 if it is large and the client reads it', async () => {
    const port = await start({});
    const session = connectHttp2(`http://127.0.0.1:${port}`).on('error', () => {});
    leave = () => session.destroy();
    const stream = session.request({ ':path': '/json' });
    let bytes = 0;
    for await (const chunk of stream) bytes += (chunk as Buffer).length;
    equal(bytes, LARGE_BYTES + '{"a":""}'.length);
    await until(idle);
  });
});
