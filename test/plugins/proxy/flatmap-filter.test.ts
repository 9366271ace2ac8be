import { deepEqual, equal } from 'node:assert/strict';
import { plugin } from '../../../plugins/proxy/index.ts';
import { openHarness } from '../../support/harness.ts';
import { backendConfig, operations, over, refusal, responses } from './around.ts';

const harness = (...lines: readonly string[]) => openHarness(plugin, 'backend', { flatmap_filter: operations(lines) });

describe('the configuration of flatmap_filter', () => {
  it('rejects a wrong number of paths', async () => {
    deepEqual(await refusal(harness('del a', 'move a')), ['/flatmap_filter/1/args PROXY_FLATMAP_ARGS']);
    deepEqual(await refusal(harness('append a b c')), ['/flatmap_filter/0/args PROXY_FLATMAP_ARGS']);
    deepEqual(await refusal(harness('del')), ['/flatmap_filter/0/args PROXY_FLATMAP_ARGS']);
  });

  it('ignores operations of unknown types, with a warning', async () => {
    const filter = [{ args: ['a'] }, { type: 7, args: ['a'] }, { type: 'swap', args: ['a'] }, ...operations(['del b'])];
    const gate = await openHarness(plugin, 'backend', { flatmap_filter: filter });
    deepEqual(gate.attached.shape!({ a: 1, b: 2 }), { a: 1 });
    deepEqual(
      gate.warnings.map(({ pointer }) => pointer),
      ['/flatmap_filter/0/type', '/flatmap_filter/1/type', '/flatmap_filter/2/type'],
    );
  });

  it("replaces the backend's allow and deny lists only with at least one valid operation", async () => {
    for (const filter of [[], [{ type: 'swap', args: ['a', 'b'] }]]) {
      const gate = await openHarness(plugin, 'backend', { flatmap_filter: filter });
      equal(gate.attached.shape, undefined);
    }
  });

  it('warns about a backend with no-op encoding', async () => {
    const gate = await openHarness(
      plugin,
      'backend',
      { flatmap_filter: operations(['del a']) },
      { backend: { encoding: 'no-op' } },
    );
    equal(gate.attached.shape, undefined);
    deepEqual(
      gate.warnings.map(({ pointer, code }) => `${pointer} ${code}`),
      ['/flatmap_filter PROXY_IDLE'],
    );
  });

  it('applies to an endpoint with two backends', async () => {
    const around = over([responses('{}'), responses('{}')]);
    const gate = await openHarness(plugin, 'endpoint', { flatmap_filter: operations(['del a']) }, around);
    deepEqual(gate.attached.shape!({ a: 1, b: 2 }), { b: 2 });
    equal(gate.attached.readsData, true);
  });

  it('warns about an endpoint with a single backend, where it has no effect', async () => {
    const shadow = backendConfig({ extra_config: { proxy: { shadow: true } } });
    for (const backend of [[backendConfig()], [backendConfig(), shadow]]) {
      const gate = await openHarness(
        plugin,
        'endpoint',
        { flatmap_filter: operations(['del a']) },
        { endpoint: { backend } },
      );
      equal(gate.attached.shape, undefined);
      deepEqual(
        gate.warnings.map(({ pointer, code }) => `${pointer} ${code}`),
        ['/flatmap_filter PROXY_IDLE'],
      );
    }
  });
});
