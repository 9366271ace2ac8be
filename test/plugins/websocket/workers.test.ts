import { deepEqual, equal } from 'node:assert/strict';
import { until } from '../../support/conditions.ts';
import { bundledProgram } from '../../support/programs.ts';
import type { TestSocket } from '../../support/websocket.ts';
import { configOf, Stage } from './setup.ts';

const program = bundledProgram();

describe('websockets of a gateway with workers', function () {
  // The time limit is raised, because worker processes start slowly on a busy machine.
  this.timeout(120_000);
  let stage: Stage;

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.close());

  it("have one backend connection in each worker, which serves that worker's clients", async () => {
    const backend = await stage.backend({
      accepted: (socket) => socket.socket.once('message', () => socket.send('OK')),
    });
    const config = configOf(backend.url, { backend: { url_pattern: '/rooms' } }) as { endpoints: object[] };
    await stage.start(config, { workers: { count: 2, program, args: [] } });
    await until(() => backend.sockets.length === 2);
    const clients: TestSocket[] = [];
    for (let at = 0; at < 6; at++) clients.push(await stage.open('/chat/red'));
    for (const peer of backend.sockets) peer.send('all');
    await until(() => clients.every(({ messages }) => messages.length > 0));
    for (const { messages } of clients) deepEqual(messages, ['all']);
    const other = { endpoint: '/other', backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }] };
    await stage.gateway.reload({ ...config, endpoints: [...config.endpoints, other] });
    clients[0]!.send('still there');
    await until(() => backend.sockets.some(({ messages }) => messages.length === 2));
    equal(backend.sockets.length, 2);
    await until(() => stage.gateway.status.streams === 6);
  });
});
