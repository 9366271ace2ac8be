import { deepEqual, doesNotMatch, match } from 'node:assert/strict';
import { createFolder, type Folder, sluice, sluiceProcess } from './command.ts';

/** Every old form that `sluice migrate` would convert to the current one. */
const old = {
  version: 3,
  tls: { keys: [], public_key: 'a.pem', private_key: 'b.pem' },
  allow_insecure_connections: true,
  extra_config: { router: { use_h2c: true } },
  endpoints: [
    {
      endpoint: '/a',
      headers_to_pass: ['X-A'],
      extra_config: { 'github.com/devopsfaith/krakend/proxy': {} },
      backend: [{ url_pattern: '/', host: ['http://a.test'] }],
    },
  ],
};

describe('old names in a template', function () {
  this.timeout(60_000);
  let folder: Folder;
  beforeEach(() => {
    folder = createFolder();
  });
  afterEach(() => folder.remove());

  it('must be renamed by hand, as check and migrate report', async () => {
    const template = { FC_ENABLE: '1' };
    const file = folder.path('gateway.json');
    for (const version of [3, 2]) {
      const text = JSON.stringify({ ...old, version });
      folder.write('gateway.json', `{{/* rendered */}}${text}`);
      const { err } = await sluiceProcess(template, 'check', '-c', file);
      doesNotMatch(err, /sluice migrate/);
      match(err, version === 3 ? /rename it in the template/ : /set "version": 3 in the template/);
      match((await sluice('check', '-c', folder.write('plain.json', text))).err, /sluice migrate/);
    }
    const refused = await sluiceProcess(template, 'migrate', '-c', file);
    deepEqual([refused.code, /is a template.*change it by hand/.test(refused.err)], [1, true]);
  });
});
