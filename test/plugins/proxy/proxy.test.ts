import { deepEqual, equal } from 'node:assert/strict';
import { plugin } from '../../../plugins/proxy/index.ts';
import { openHarness } from '../../support/harness.ts';
import { over, refusal, responses } from './around.ts';

const two = over([responses('{}'), responses('{}')]);

const warned = async (level: 'endpoint' | 'backend', config: unknown, around = level === 'endpoint' ? two : {}) =>
  (await openHarness(plugin, level, config, around)).warnings.map(({ pointer, code }) => `${pointer} ${code}`);

describe('proxy', () => {
  it('attaches nothing where nothing is configured', async () => {
    for (const config of [{}, { '@comment': 'x' }, { sequential: false, combiner: 'default', max_payload: 0 }]) {
      deepEqual((await openHarness(plugin, 'endpoint', config, two)).attached, {});
    }
    for (const config of [{}, { shadow: false }])
      deepEqual((await openHarness(plugin, 'backend', config)).attached, {});
  });

  it('refuses unknown keys', async () => {
    equal((await refusal(openHarness(plugin, 'endpoint', { sequentiel: true }, two))).length, 1);
    equal((await refusal(openHarness(plugin, 'backend', { sequential: true }))).length, 1);
  });

  it('limits the body of the request', async () => {
    const { attached } = await openHarness(plugin, 'endpoint', { max_payload: 1024 }, two);
    deepEqual(attached.payload, { maxBytes: 1024 });
  });

  it('inflates the body of the request', async () => {
    const { attached } = await openHarness(plugin, 'endpoint', { decompress_gzip: true, max_payload: 0 }, two);
    deepEqual(attached.payload, { inflate: true });
  });

  it('refuses a negative limit', async () => {
    equal((await refusal(openHarness(plugin, 'endpoint', { max_payload: -1 }, two))).length, 1);
  });

  it('makes a backend a shadow', async () => {
    deepEqual((await openHarness(plugin, 'backend', { shadow: true })).attached, { shadow: {} });
  });

  it('gives a shadow a timeout of its own, 0 being none', async () => {
    const shadow = async (shadow_timeout: string) =>
      (await openHarness(plugin, 'backend', { shadow: true, shadow_timeout })).attached.shadow;
    deepEqual(await shadow('1500ms'), { timeoutMs: 1500 });
    deepEqual(await shadow('0s'), {});
  });

  it('warns of a shadow timeout without shadow', async () => {
    deepEqual(await warned('backend', { shadow_timeout: '1s' }), ['/shadow_timeout PROXY_IDLE']);
  });

  it('refuses a shadow where bytes are forwarded unread', async () => {
    const standing = openHarness(plugin, 'backend', { shadow: true }, { endpoint: { output_encoding: 'no-op' } });
    deepEqual(await refusal(standing), ['/shadow PROXY_SHADOW_RAW']);
  });

  it('warns of options that are accepted for compatibility only', async () => {
    deepEqual(await warned('endpoint', { force_sandboxed_request: false, strategy: 'parallel' }), [
      '/force_sandboxed_request OPTION_UNUSED',
      '/strategy OPTION_UNUSED',
    ]);
  });

  it('holds nothing after it is closed', async () => {
    const config = { sequential: true, static: { data: { a: 1 }, strategy: 'always' } };
    const gate = await openHarness(plugin, 'endpoint', config, two);
    await gate.send('GET /');
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });
});
