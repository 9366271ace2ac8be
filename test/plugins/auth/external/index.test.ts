import { deepEqual, equal } from 'node:assert/strict';
import { HeaderBag, Reply } from '#contract';
import { plugin } from '../../../../plugins/auth/external/index.ts';
import { countingMeter } from '../../../support/counting.ts';
import { openHarness } from '../../../support/harness.ts';
import { findingsOf } from '../fixture.ts';

describe('auth/external', () => {
  const url = 'https://auth.test/verify';

  it('counts decisions by their result', async () => {
    const { counts, offers } = countingMeter();
    const gate = await openHarness(
      plugin,
      'endpoint',
      { url },
      {
        offers,
        next: (request) => Reply.raw(request.origin === 'https://auth.test' ? 204 : 200, new HeaderBag(), null),
      },
    );
    equal((await gate.send('GET /')).status, 200);
    deepEqual(Object.fromEntries(counts), { 'external_auth.decisions': 1 });
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  describe('in the configuration check', () => {
    for (const [config, finding] of [
      [{ url: 'ftp://a.test' }, 'EXTERNAL_URL /url'],
      [{ url: 'https://a:b@a.test' }, 'EXTERNAL_URL /url'],
      [{ url: 'grpc://a.test/path' }, 'EXTERNAL_URL /url'],
      [{ response_headers: ['Host'] }, 'EXTERNAL_HEADER /response_headers/0'],
      [{ client_headers: ['a b'] }, 'EXTERNAL_HEADER /client_headers/0'],
      [{ request_headers: ['a', ''] }, 'SCHEMA_RANGE /request_headers/1'],
      [{ url: 'grpc://a.test', client_headers: ['a'] }, 'EXTERNAL_FIELD /client_headers'],
      [{ context_extensions: { a: 'b' } }, 'EXTERNAL_FIELD /context_extensions'],
      [{ cache_headers: ['a'] }, 'EXTERNAL_FIELD /cache_headers'],
      [{ cache_ttl: '1s' }, 'EXTERNAL_CACHE /cache_ttl'],
      [{ cache_ttl: '1s', cache_headers: ['a'], forward_body: true }, 'EXTERNAL_CACHE /cache_ttl'],
    ] as const) {
      it(`rejects ${JSON.stringify(config)}`, async () =>
        deepEqual(await findingsOf(openHarness(plugin, 'endpoint', { url, ...config })), [finding]));
    }

    it('warns of servers that are called without TLS', async () => {
      for (const [url, warnings] of [
        ['http://a.test', 1],
        ['grpc://a.test:9191', 1],
        ['http://127.0.0.1:1', 0],
        ['grpc://localhost:9191', 0],
      ] as const) {
        const gate = await openHarness(plugin, 'endpoint', { url });
        equal(gate.warnings.length, warnings);
        await gate.close();
      }
    });
  });
});
