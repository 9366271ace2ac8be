import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { Meter } from 'sluice/plugin';
import { openHarness } from 'sluice/testing';
import { plugin } from './metrics-sink.ts';

test('what others measure is shown, told apart by its attributes, over reloads', async () => {
  const gate = await openHarness(plugin, 'service', {});
  const meter = gate.attached.offers![0]!.value as Meter;
  const refused = meter.counter('refused', { description: 'Refused.' });
  refused.add(1, { route: '/b', status: 429 });
  refused.add(2, { status: 429, route: '/b' });
  meter.histogram('duration', { description: 'Time.', unit: 's' }).record(0.5);
  await gate.reload({ path: '/shown' });
  deepEqual((await gate.send('GET /shown')).data, {
    'refused{route="/b",status=429}': { count: 2, sum: 3 },
    'duration{}': { count: 1, sum: 0.5 },
  });
  await gate.close();
});

test('there is a bound to what is kept', async () => {
  const gate = await openHarness(plugin, 'service', {});
  const counter = (gate.attached.offers![0]!.value as Meter).counter('c', { description: 'Counts.' });
  for (let n = 0; n < 10_005; n++) counter.add(1, { n });
  const { data } = await gate.attached.routes![0]!.handle(undefined as never, undefined as never);
  equal(Object.keys(data!).length, 10_000);
  deepEqual(await gate.close(), { kept: 0, deferred: 0 });
});
