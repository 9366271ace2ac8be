import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { Reply } from 'sluice/plugin';
import { openHarness } from 'sluice/testing';
import { plugin } from './header-injector.ts';

test('an endpoint sets headers on its responses', async () => {
  const gate = await openHarness(plugin, 'endpoint', { set: { 'X-Team': 'checkout' } });
  equal((await gate.send('GET /')).headers.get('x-team'), 'checkout');
  deepEqual(await gate.close(), { kept: 0, deferred: 0 });
});

test('a backend gets them in the place of what the client sent', async () => {
  let seen: string | undefined;
  const gate = await openHarness(
    plugin,
    'backend',
    { set: { 'X-Team': 'checkout' } },
    {
      next: (request) => {
        seen = request.headers.get('x-team');
        return Reply.data({});
      },
    },
  );
  await gate.send({ headers: { 'X-Team': 'mine' } });
  equal(seen, 'checkout');
  deepEqual(gate.attached.sets, ['X-Team']);
  await gate.close();
});
