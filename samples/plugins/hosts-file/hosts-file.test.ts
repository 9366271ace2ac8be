import { deepEqual, equal, rejects, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { openHarness } from 'sluice/testing';
import { plugin } from './hosts-file.ts';

/** Opens the discovery through the plugin, over a file with this content. */
async function discover(content: string, host: readonly string[]) {
  const gate = await openHarness(plugin, 'service', { file: 'hosts.json' });
  const file = gate.attached.offers![0]!.value;
  await gate.close();
  const fault = (_code: string, pointer: string, message: string) => new Error(`${pointer}: ${message}`);
  const site = { backend: { host }, take: () => file, read: () => Buffer.from(content), fault };
  return plugin.discoveries![0]!.open(site as never);
}

test('a name stands for all its addresses', async () => {
  const { current, fixed } = await discover('{"users":["http://a:1","http://b:2"]}', ['http://users']);
  deepEqual(current, ['http://a:1', 'http://b:2']);
  equal(fixed, true);
});

test('a name that the file does not have refuses the configuration', async () => {
  await rejects(discover('{"users":[]}', ['http://carts']), {
    message: '/host/0: the file has no addresses of "carts"',
  });
});

test('a broken file refuses it as well', async () => {
  await rejects(discover('{', []), /^Error: .sd: hosts.json: /);
  await rejects(discover('{"users":["no address"]}', []), /addresses of "users" must be a list of URLs/);
});

test('without a file there is nothing to take', () => {
  const fault = (_code: string, _pointer: string, message: string) => new Error(message);
  throws(() => plugin.discoveries![0]!.open({ take: () => undefined, fault } as never), /name the file at the root/);
});
