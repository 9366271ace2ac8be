import { deepEqual, equal } from 'node:assert/strict';
import { json, startBackend, startGateway } from '../../support/gateway.ts';
import { createFolder, type Folder, sluice } from '../cli/command.ts';

const texts = {
  'gateway.json': '{"version": 4, "endpoints": []}',
  'gateway.yaml': 'version: 4\nendpoints: []\n',
  'gateway.toml': 'version = 4\nendpoints = []\n',
};

describe('version 4 of the configuration format', () => {
  let folder: Folder;
  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  for (const [name, text] of Object.entries(texts)) {
    it(`is accepted without a warning in ${name}`, async () => {
      const { code, err } = await sluice('check', '-t', '-c', folder.write(name, text));
      deepEqual([code, err.includes('warning')], [0, false]);
    });
  }

  it('serves like version 3', async () => {
    const backend = await startBackend(json({ ok: true }));
    const gateway = await startGateway({
      version: 4,
      endpoints: [{ endpoint: '/a', backend: [{ url_pattern: '/', host: [backend.url] }] }],
    });
    deepEqual((await gateway.inject('/a')).json(), { ok: true });
    await gateway.close();
    await backend.close();
  });

  it('causes warnings for removed components, which still work', async () => {
    const extra_config = { 'telemetry/metrics': { listen_address: '127.0.0.1:0' } };
    const four = folder.write('removed.json', JSON.stringify({ version: 4, extra_config, endpoints: [] }));
    const { code, err } = await sluice('check', '-c', four);
    equal(code, 0);
    equal(/warning: 'telemetry\/metrics' works here.*\[CONFIG_REMOVED\]/.test(err), true, err);
    const three = folder.write('kept.json', JSON.stringify({ version: 3, extra_config, endpoints: [] }));
    equal((await sluice('check', '-c', three)).err.includes('CONFIG_REMOVED'), false);
  });

  it('rejects field names of version 2', async () => {
    const endpoint = { endpoint: '/a', headers_to_pass: ['A'], backend: [{ url_pattern: '/', host: ['http://h'] }] };
    const file = folder.write('old.json', JSON.stringify({ version: 4, endpoints: [endpoint] }));
    equal((await sluice('check', '-c', file)).code, 1);
  });
});
