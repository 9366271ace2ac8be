import { deepEqual, equal, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Operations } from '#kernel';
import { freePort, until } from '../../support/conditions.ts';
import { INSTALLATION_MS } from '../../support/debian.ts';
import { rememberingSinks, startBackend, startGateway } from '../../support/gateway.ts';
import { startNats, type TestNats, withoutNats } from '../../support/nats.ts';
import { bundledProgram } from '../../support/programs.ts';

const program = bundledProgram();
const where = withoutNats ? describe.skip : describe;

where(`sequential_start with workers${withoutNats ? `: ${withoutNats}` : ''}`, function () {
  this.timeout(INSTALLATION_MS);
  let server: TestNats;
  let gateway: Operations | undefined;
  /** A proxy in front of the server that accepts a connection when the test allows it. */
  let gatekeeper: Server;
  const held: Socket[] = [];
  let connections = 0;

  before(async () => {
    server = await startNats();
    gatekeeper = createServer((socket) => {
      connections++;
      held.push(socket.on('error', () => {}));
    }).listen(0, '127.0.0.1');
    await once(gatekeeper, 'listening');
  });
  after(async () => {
    await gateway?.close();
    gatekeeper.close();
    for (const socket of held) socket.destroy();
    await server.close();
  });

  const letThrough = () => {
    const socket = held.shift()!;
    const upstream = connect(server.port, '127.0.0.1').on('error', () => {});
    socket.pipe(upstream).pipe(socket);
  };

  it('connects the agents one after another in a single process, and then opens the port', async () => {
    const backend = await startBackend((_request, response) => response.end('{}'));
    const port = await freePort();
    const agent = (name: string) => ({
      name,
      connection: { backoff_strategy: 'linear' },
      consumer: { topic: name },
      backend: [{ host: [backend.url], url_pattern: `/${name}`, method: 'POST' }],
      extra_config: { 'async/nats': { host: `127.0.0.1:${(gatekeeper.address() as AddressInfo).port}` } },
    });
    const config = { sequential_start: true, async_agent: [agent('one'), agent('two')] };
    gateway = await startGateway(config, { port, sinks: rememberingSinks(), workers: { count: 2, program, args: [] } });
    const opened = gateway.listen();
    const isRefused = () => rejects(fetch(`http://127.0.0.1:${port}/__health`));
    for (const count of [1, 2]) {
      await until(() => connections === count);
      await isRefused();
      letThrough();
    }
    await opened;
    equal((await fetch(`http://127.0.0.1:${port}/__health`)).status, 200);
    const client = await server.connect();
    for (let id = 0; id < 10; id++) client.publish(id < 5 ? 'one' : 'two', String(id));
    await until(() => backend.requests.length >= 10);
    await client.flush();
    deepEqual(backend.requests.map(({ body }) => Number(body)).sort(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    equal(connections, 2);
    await gateway.close();
    gateway = undefined;
    await backend.close();
  });
});
