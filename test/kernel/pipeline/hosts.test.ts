import { deepEqual } from 'node:assert/strict';
import type { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { startGateway } from '../../support/gateway.ts';

/** Error of a backend: code, pointer below the backend, message and hint. */
async function issues(backend: object): Promise<unknown[][]> {
  const config = { endpoints: [{ endpoint: '/a/{id}', backend: [{ url_pattern: '/', ...backend }] }] };
  try {
    const gateway = await startGateway(config);
    await gateway.close();
    return [];
  } catch (error) {
    return (error as ConfigErrors).errors.map(({ code, pointer, message, hint }) => [
      code,
      pointer.replace('/endpoints/0/backend/0', ''),
      message,
      hint,
    ]);
  }
}

describe('a backend host with disable_host_sanitize', () => {
  for (const host of ['http://a:1', 'HTTPS://a', '{id}', '{id}.test', 'http://{id}']) {
    it(`can be ${host}`, async () => {
      deepEqual(await issues({ host: [host], disable_host_sanitize: true }), []);
    });
  }

  for (const [host, hint] of [
    ['a:1', '"http://a:1"'],
    ['a/{id}', '"http://a/{id}"'],
    ['ftp://a', undefined],
    ['svn+ssh2://a', undefined],
  ]) {
    it(`cannot be ${host}`, async () => {
      deepEqual(await issues({ host: ['http://a', host], disable_host_sanitize: true }), [
        ['BACKEND_SCHEME', '/host/1', `host ${host} must begin with http:// or https://`, hint],
      ]);
    });
  }
});

describe('the service discovery of a backend', () => {
  it('must be known', async () => {
    const host = ['http://a'];
    deepEqual(await issues({ host, sd: 'statik' }), [
      ['SD_UNKNOWN', '/sd', 'unknown service discovery "statik"', 'did you mean "static"?'],
    ]);
    const [[code, pointer, , hint]] = (await issues({ host, sd: 'telepathy' })) as [unknown[]];
    deepEqual([code, pointer, /^one of .*\bdns\b.*, .*static/.test(String(hint))], ['SD_UNKNOWN', '/sd', true]);
  });

  it('rejects a scheme that the backend cannot use', async () => {
    const backend = { host: ['a.test'], sd: 'dns', sd_scheme: 'ftp' };
    deepEqual(
      (await issues(backend)).map(([code, pointer]) => [code, pointer]),
      [['BACKEND_SCHEME', '/sd_scheme']],
    );
  });
});
