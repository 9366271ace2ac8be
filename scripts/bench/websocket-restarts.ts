// Tests WebSocket message delivery while the gateway is reloaded and the backend restarted under traffic: `node
// scripts/bench/websocket-restarts.ts [--clients 20] [--reloads 100] [--restarts 10]`. Messages in transit to or from a
// backend that is cut off are lost, because the protocol has no acknowledgments. The gateway itself must not lose or
// duplicate any.
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type RawData, WebSocket } from 'ws';
import { silentSinks } from '../../kernel/testing/index.ts';
import { startGateway } from '../../test/support/gateway.ts';
import { startSocketServer, type TestSocketServer } from '../../test/support/websocket.ts';

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '20' },
    reloads: { type: 'string', default: '100' },
    restarts: { type: 'string', default: '10' },
  },
});
const [clients, reloads, restarts] = [Number(values.clients), Number(values.reloads), Number(values.restarts)];

/** Counts of received messages by text. */
class Seen {
  readonly counts = new Map<string, number>();

  add(text: string): void {
    this.counts.set(text, (this.counts.get(text) ?? 0) + 1);
  }

  get doubled(): number {
    return [...this.counts.values()].filter((count) => count > 1).length;
  }
}

/** A backend that echoes messages, as they are or in the envelopes of all clients. */
async function startEcho(isDirect: boolean, port: number, seen: Seen): Promise<TestSocketServer> {
  return startSocketServer({
    port,
    accepted({ socket }) {
      socket.on('message', (data: RawData) => {
        const text = String(data);
        if (isDirect) {
          seen.add(text);
          socket.send(text);
          return;
        }
        const { msg, session, body } = JSON.parse(text);
        if (msg !== undefined) return socket.send('OK');
        seen.add(Buffer.from(body, 'base64').toString());
        socket.send(JSON.stringify({ session: { uuid: session.uuid }, body }));
      });
    },
  });
}

async function run(isDirect: boolean, reloads: number, restarts: number): Promise<void> {
  const atBackend = new Seen();
  const back = new Seen();
  let backend = await startEcho(isDirect, 0, atBackend);
  const { port: backendPort, url } = backend;
  const config = (round: number) => ({
    version: 3,
    endpoints: [
      {
        endpoint: '/chat/{room}',
        extra_config: { websocket: { enable_direct_communication: isDirect, message_buffer_size: 4096 } },
        backend: [{ host: [url], disable_host_sanitize: true, url_pattern: '/' }],
      },
      { endpoint: `/round/${round}`, backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }] },
    ],
  });
  const gateway = await startGateway(config(0), { sinks: silentSinks });
  const { port } = await gateway.listen();
  let ended = 0;
  let lastAt = performance.now();
  const sockets = await Promise.all(
    Array.from({ length: clients }, async (_, at) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/chat/${at % 4}`);
      socket.on('message', (data: RawData) => {
        lastAt = performance.now();
        back.add(String(data));
      });
      await new Promise((resolve) => socket.once('open', resolve));
      socket.on('close', () => ended++);
      socket.on('error', () => {});
      return socket;
    }),
  );
  let sent = 0;
  const traffic = setInterval(() => {
    for (const socket of sockets) if (socket.readyState === WebSocket.OPEN) socket.send(`m${sent++}`);
  }, 10);
  await delay(500);
  const rounds = Math.max(restarts, 1);
  let reloaded = 0;
  for (let round = 1; round <= rounds; round++) {
    for (; reloaded < (reloads * round) / rounds; reloaded++) {
      await gateway.reload(config(reloaded + 1));
      await delay(10);
    }
    if (restarts === 0) continue;
    await backend.close();
    await delay(200);
    backend = await startEcho(isDirect, backendPort, atBackend);
    await delay(2500);
  }
  clearInterval(traffic);
  await delay(1000);
  while (performance.now() - lastAt < 2000) await delay(100);
  const disconnected = ended;
  for (const socket of sockets) socket.terminate();
  await gateway.close();
  await backend.close();
  console.log(
    `${isDirect ? 'direct' : 'shared'}: ${clients} clients, ${reloads} reloads, ${restarts} restarts: sent ${sent}, ` +
      `at the backend ${atBackend.counts.size} (${sent - atBackend.counts.size} lost, ${atBackend.doubled} doubled), ` +
      `back ${back.counts.size} (${atBackend.counts.size - back.counts.size} lost, ${back.doubled} doubled), ` +
      `clients disconnected ${disconnected}`,
  );
}

for (const isDirect of [false, true]) {
  await run(isDirect, reloads, 0);
  if (restarts > 0) await run(isDirect, reloads, restarts);
}
