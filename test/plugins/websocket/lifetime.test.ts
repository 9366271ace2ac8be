import { deepEqual, equal, ok } from 'node:assert/strict';
import { until } from '../../support/conditions.ts';
import type { TestSocketServer } from '../../support/websocket.ts';
import { directConfig, Stage } from './setup.ts';

describe('a websocket with a backend connection for each client', () => {
  let stage: Stage;
  let backend: TestSocketServer;

  beforeEach(async () => {
    stage = new Stage();
    backend = await stage.backend();
  });
  afterEach(() => stage.close());

  const config = (written: Parameters<typeof directConfig>[1] = {}): { endpoints: object[] } =>
    directConfig(backend.url, written) as { endpoints: object[] };
  const other = { endpoint: '/other', backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }] };

  it('survives reloads that do not change its endpoint', async () => {
    await stage.start(config());
    const client = await stage.open('/chat/red');
    const peer = await backend.next();
    for (let at = 0; at < 5; at++) {
      const next = config();
      await stage.gateway.reload({ ...next, endpoints: [...next.endpoints, { ...other, timeout: `${at + 1}s` }] });
    }
    await until(() => stage.gateway.status.draining === 0);
    client.send('still there');
    equal(await peer.next(), 'still there');
    deepEqual([backend.sockets.length, stage.gateway.status.streams], [1, 1]);
  });

  it('ends with 1001 on both sides if its endpoint changes', async () => {
    await stage.start(config());
    const client = await stage.open('/chat/red');
    const peer = await backend.next();
    await stage.gateway.reload(config({ websocket: { max_message_size: 600 } }));
    equal((await client.over()).code, 1001);
    equal((await peer.over()).code, 1001);
    await stage.open('/chat/red');
  });

  it('ends with 1001 if its endpoint is removed', async () => {
    await stage.start(config());
    const client = await stage.open('/chat/red');
    await stage.gateway.reload({ ...config(), endpoints: [other] });
    equal((await client.over()).code, 1001);
  });

  it('ends with 1001 when the gateway closes, even while its backend is down', async () => {
    await stage.start(config());
    const client = await stage.open('/chat/red');
    const peer = await backend.next();
    const held = await stage.open('/chat/red');
    (await backend.next()).socket.terminate();
    await until(() => stage.lines.some((line) => line.includes('backend lost')));
    await stage.gateway.close();
    equal((await client.over()).code, 1001);
    equal((await held.over()).code, 1001);
    equal((await peer.over()).code, 1001);
  });

  it('is not limited by the timeouts of its endpoint and of requests', async () => {
    await stage.start(
      config({
        endpoint: { timeout: '3s' },
        root: { write_timeout: '3s', read_timeout: '3s' },
        websocket: { ping_period: '50ms' },
      }),
    );
    const client = await stage.open('/chat/red');
    let pings = 0;
    client.socket.on('ping', () => pings++);
    const peer = await backend.next();
    const began = performance.now();
    await until(() => pings >= 8 && performance.now() - began > 4000);
    client.send('a');
    equal(await peer.next(), 'a');
  });

  it('is written to the access log with the status 100 when it ends', async () => {
    await stage.start(config());
    const client = await stage.open('/chat/red');
    await backend.next();
    const access = () => stage.lines.filter((line) => line.includes('/chat/red'));
    equal(access().length, 0);
    client.socket.close();
    await until(() => access().length === 1);
    ok(/\b100\b/.test(access()[0]!));
  });
});
