import { deepEqual, rejects } from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { openHarness } from 'sluice/testing';
import { plugin } from './secret-store.ts';

const server = createServer(({ url }, response) => {
  const secrets: Readonly<Record<string, object>> = { '/orders%2Feu': { token: 'the-token' } };
  const found = secrets[url ?? ''];
  response.writeHead(found ? 200 : 404, { Connection: 'close' }).end(JSON.stringify(found ?? {}));
});
before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve())));
after(() => server.close());

/** The store, as the gateway gets it from the plugin. */
async function openStore() {
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gate = await openHarness(plugin, 'service', { address });
  const { secrets } = gate.attached;
  await gate.close();
  return secrets!;
}

const { signal } = new AbortController();

test('a secret is fetched by its name', async () => {
  const store = await openStore();
  deepEqual(await store.fetch('orders/eu', signal), { content: { token: 'the-token' } });
});

test('an error of the store has no part of the response', async () => {
  const store = await openStore();
  await rejects(async () => store.fetch('none', signal), { message: 'status 404' });
});
