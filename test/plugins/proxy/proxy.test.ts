import { deepEqual, equal } from 'node:assert/strict';
import { plugin } from '../../../plugins/proxy/index.ts';
import { openHarness } from '../../support/harness.ts';
import { over, refusal, responses } from './around.ts';

const two = over([responses('{}'), responses('{}')]);

const warned = async (level: 'endpoint' | 'backend', config: unknown, around = level === 'endpoint' ? two : {}) =>
  (await openHarness(plugin, level, config, around)).warnings.map(({ pointer, code }) => `${pointer} ${code}`);

describe('the namespace proxy', () => {
  it('has no effect with an empty object', async () => {
    for (const config of [{}, { '@comment': 'x' }, { sequential: false, combiner: 'default', max_payload: 0 }]) {
      deepEqual((await openHarness(plugin, 'endpoint', config, two)).attached, {});
    }
    for (const config of [{}, { shadow: false }])
      deepEqual((await openHarness(plugin, 'backend', config)).attached, {});
  });

  it('rejects unknown keys', async () => {
    equal((await refusal(openHarness(plugin, 'endpoint', { sequentiel: true }, two))).length, 1);
    equal((await refusal(openHarness(plugin, 'backend', { sequential: true }))).length, 1);
  });

  it('limits the request body', async () => {
    const { attached } = await openHarness(plugin, 'endpoint', { max_payload: 1024 }, two);
    deepEqual(attached.payload, { maxBytes: 1024 });
  });

  it('limits the decompressed size of the request body', async () => {
    const { attached } = await openHarness(plugin, 'endpoint', { decompress_gzip: true, max_payload: 0 }, two);
    deepEqual(attached.payload, { inflate: true });
  });

  it('rejects a negative limit', async () => {
    equal((await refusal(openHarness(plugin, 'endpoint', { max_payload: -1 }, two))).length, 1);
  });

  it('makes a backend a shadow', async () => {
    deepEqual((await openHarness(plugin, 'backend', { shadow: true })).attached, { shadow: {} });
  });

  it('limits the time of a shadow separately, or not at all with 0', async () => {
    const shadow = async (shadow_timeout: string) =>
      (await openHarness(plugin, 'backend', { shadow: true, shadow_timeout })).attached.shadow;
    deepEqual(await shadow('1500ms'), { timeoutMs: 1500 });
    deepEqual(await shadow('0s'), {});
  });

  it('warns about a shadow timeout without a shadow', async () => {
    deepEqual(await warned('backend', { shadow_timeout: '1s' }), ['/shadow_timeout PROXY_IDLE']);
  });

  it('rejects a shadow with the no-op encoding', async () => {
    const harness = openHarness(plugin, 'backend', { shadow: true }, { endpoint: { output_encoding: 'no-op' } });
    deepEqual(await refusal(harness), ['/shadow PROXY_SHADOW_RAW']);
  });

  it('warns about options without effect', async () => {
    deepEqual(await warned('endpoint', { force_sandboxed_request: false }), ['/force_sandboxed_request OPTION_UNUSED']);
  });

  it('releases all resources when closed', async () => {
    const config = { sequential: true, static: { data: { a: 1 }, strategy: 'always' } };
    const gate = await openHarness(plugin, 'endpoint', config, two);
    await gate.send('GET /');
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });
});
