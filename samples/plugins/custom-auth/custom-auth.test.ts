import { deepEqual, equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { Reply } from 'sluice/plugin';
import { openHarness } from 'sluice/testing';
import { plugin } from './custom-auth.ts';

process.env['ACME_MOBILE_KEY'] = 'open-sesame';
const config = { client: 'mobile', key_env: 'ACME_MOBILE_KEY' };

test('the right key passes, and the backend is told whose it is', async () => {
  let client: string | undefined;
  const next = (request: { headers: { get(name: string): string | undefined } }) => {
    client = request.headers.get('x-client');
    return Reply.data({});
  };
  const gate = await openHarness(plugin, 'endpoint', config, { next });
  const headers = { Authorization: 'Bearer open-sesame', 'X-Client': 'admin' };
  equal((await gate.send({ headers })).status, 200);
  equal(client, 'mobile');
  deepEqual(await gate.close(), { kept: 0, deferred: 0 });
});

test('no key and wrong ones are refused, whatever their length', async () => {
  const gate = await openHarness(plugin, 'endpoint', config);
  for (const authorization of ['', 'Bearer', 'Bearer no', 'Basic open-sesame', 'Bearer open-sesame-and-more']) {
    const reply = await gate.send({ headers: { Authorization: authorization } });
    deepEqual([reply.status, reply.headers.get('www-authenticate')], [401, 'Bearer realm="acme"']);
  }
  await gate.close();
});

test('a variable that is not set refuses the configuration', async () => {
  await rejects(openHarness(plugin, 'endpoint', { ...config, key_env: 'ACME_NONE' }), /no variable ACME_NONE/);
});
