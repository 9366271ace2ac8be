import { deepEqual, equal } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { ByteStream, HeaderBag, Reply } from 'sluice/plugin';
import { openHarness } from 'sluice/testing';
import { plugin } from './response-signer.ts';

process.env['ACME_SIGNING_KEY'] = 'secret';
const config = { key_env: 'ACME_SIGNING_KEY', max_bytes: 8 };
const raw = (text: string) => () => Reply.raw(200, new HeaderBag(), Buffer.from(text));

test('the signature is the HMAC of what the client gets', async () => {
  const gate = await openHarness(plugin, 'service', config, { next: raw('eight by') });
  const reply = await gate.send('GET /');
  const expected = createHmac('sha256', 'secret')
    .update(reply.body as Uint8Array)
    .digest('hex');
  equal(reply.headers.get('x-signature'), `sha256=${expected}`);
  deepEqual(await gate.close(), { kept: 0, deferred: 0 });
});

test('what is longer than can be held does not leave unsigned', async () => {
  const gate = await openHarness(plugin, 'service', config, { next: raw('nine byte') });
  const reply = await gate.send('GET /');
  deepEqual([reply.status, reply.headers.get('x-signature')], [502, undefined]);
  await gate.close();
});

test('a stream is read up to the bound, and then given up', async () => {
  let isCancelled = false;
  const next = () => {
    const stream = new ByteStream({
      cancel: () => {
        isCancelled = true;
      },
    });
    for (let count = 0; count < 3; count++) stream.write(Buffer.from('four'));
    return Reply.raw(200, new HeaderBag(), stream);
  };
  const gate = await openHarness(plugin, 'service', config, { next });
  equal((await gate.send('GET /')).status, 502);
  equal(isCancelled, true);
  await gate.close();
});
