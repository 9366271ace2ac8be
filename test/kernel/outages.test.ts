import { deepEqual, equal } from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import type { Operations } from '#kernel';
import { until } from '../support/conditions.ts';
import { startGateway } from '../support/gateway.ts';
import { startUnaccepting, type UnacceptingServer } from '../support/unaccepting.ts';
import { openRaw } from './server/raw.ts';

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** Behavior of a backend, by name. */
const acts: Readonly<Record<string, (socket: Socket) => void>> = {
  answers: (socket) => void socket.write(`${head}Content-Length: 2\r\n\r\n{}`),
  'stays silent': () => {},
  resets: (socket) => void socket.resetAndDestroy(),
  'stays silent within its response': (socket) => void socket.write(`${head}Content-Length: 20\r\n\r\n{"a"`),
  'closes within its response': (socket) => void socket.end(`${head}Content-Length: 20\r\n\r\n{"a"`),
};

describe('a failing backend', () => {
  let server: Server;
  let gateway: Operations;
  let act: (socket: Socket) => void;
  const sockets = new Set<Socket>();

  beforeEach(async () => {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).once('close', () => sockets.delete(socket));
      socket.on('data', () => act(socket));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  });
  afterEach(async () => {
    await gateway.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const start = async (host: number, extra: object = {}, timeout = '300ms'): Promise<void> => {
    const backend = { host: [`http://127.0.0.1:${host}`], url_pattern: '/', extra_config: extra };
    gateway = await startGateway({ endpoints: [{ endpoint: '/a', timeout, backend: [backend] }] });
  };
  const ownPort = (): number => (server.address() as { port: number }).port;
  const ask = async (): Promise<number> => (await gateway.inject({ url: '/a' })).statusCode;

  for (const [name, fails] of Object.entries(acts).filter(([name]) => name !== 'answers')) {
    it(`fails only the requests during the failure: one that ${name}`, async () => {
      await start(ownPort());
      act = fails;
      deepEqual([await ask(), await ask()], [500, 500]);
      await until(() => sockets.size === 0);
      act = acts['answers']!;
      // Repeats the request, so that a busy machine does not make the test fail.
      await until(async () => (await ask()) === 200);
    });
  }

  it('fails requests on time while it accepts no connections', async () => {
    let unaccepting: UnacceptingServer | null = null;
    try {
      unaccepting = await startUnaccepting();
      await start(unaccepting.port);
      deepEqual([await ask(), await ask()], [500, 500]);
    } finally {
      await unaccepting?.close();
    }
  });

  it('is not assumed if its clients disconnect: the circuit breaker stays closed', async () => {
    await start(ownPort(), { 'qos/circuit-breaker': { interval: 60, timeout: 60, max_errors: 2 } }, '60s');
    const { port } = await gateway.listen();
    act = acts['stays silent']!;
    for (let client = 0; client < 5; client++) {
      const { socket, write } = await openRaw(port);
      write('GET /a HTTP/1.1\r\nHost: a\r\n\r\n');
      await until(() => sockets.size === 1);
      socket.destroy();
      await until(() => sockets.size === 0);
    }
    act = acts['answers']!;
    equal(await ask(), 200);
    act = acts['resets']!;
    for (let request = 0; request < 3; request++) await ask();
    act = acts['answers']!;
    equal(await ask(), 500);
  });
});
