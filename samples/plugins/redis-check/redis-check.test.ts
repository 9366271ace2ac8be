import { deepEqual, equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { openHarness } from 'sluice/testing';
import { plugin } from './redis-check.ts';

test('without Redis every request is refused with 503, and the reason is for the log', async () => {
  const gate = await openHarness(plugin, 'endpoint', { url: 'redis://127.0.0.1:1' });
  const reply = await gate.send('GET /');
  equal(reply.status, 503);
  match(reply.errors[0]!.message, /^redis: /);
  deepEqual(await gate.close(), { kept: 0, deferred: 0 });
});

test('with one that is silent as well, after the time it has', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const gate = await openHarness(plugin, 'endpoint', { url: `redis://127.0.0.1:${port}`, timeout: '20ms' });
  equal((await gate.send('GET /')).status, 503);
  await gate.close();
  for (const socket of sockets) socket.destroy();
  server.close();
});
