import { deepEqual, equal, ok } from 'node:assert/strict';
import { config, openAdmin, type TestAdmin } from './support.ts';

describe('POST /v1/fix', () => {
  let one: TestAdmin;
  before(async () => {
    one = await openAdmin(config());
  });
  after(() => one.close());

  const fix = (body: string, { query = '', type = 'application/json' } = {}) =>
    one.ask(`/v1/fix${query}`, { method: 'POST', body, headers: { 'content-type': type } });

  const misspelled = `{
  "version": 3,
  "timout": "2s", // stays
  "endpoints": [{ "endpoint": "a", "backend": [{ "host": ["http://127.0.0.1:9"], "url_pattern": "/" }] }]
}
`;

  it('corrects errors with a single correction, and keeps layout and comments', async () => {
    const { status, body } = await fix(misspelled);
    equal(status, 200);
    equal(body.text, misspelled.replace('timout', 'timeout').replace('"a"', '"/a"'));
    deepEqual(body.changes.toSorted(), ["3:3: 'timout' is now 'timeout'", '4:31: \'endpoint\' is now "/a"'].toSorted());
  });

  it('corrects only the error at a pointer', async () => {
    const { body } = await fix(misspelled, { query: '?pointer=/timout' });
    equal(body.text, misspelled.replace('timout', 'timeout'));
  });

  it('corrects YAML', async () => {
    const { body } = await fix('version: 3 # stays\ntimout: 2s\nendpoints: []\n', { type: 'application/yaml' });
    equal(body.text, 'version: 3 # stays\ntimeout: 2s\nendpoints: []\n');
  });

  it('marks the errors that it can correct in the response of a check', async () => {
    const { body } = await one.ask('/v1/check', { method: 'POST', body: misspelled });
    const fixable = body.errors.map(({ pointer, fixable = false }: { pointer: string; fixable?: boolean }) => [
      pointer,
      fixable,
    ]);
    deepEqual(fixable.toSorted(), [
      ['/endpoints/0/endpoint', true],
      ['/timout', true],
    ]);
  });

  it('returns a text without such errors as it is', async () => {
    const text = JSON.stringify(config('/b'));
    deepEqual((await fix(text)).body, { text, changes: [] });
  });

  it('never inserts a secret of the serving configuration', async () => {
    const secret = 'the-secret-of-the-gateway';
    const holder = {
      ...config(),
      extra_config: { 'admin/api': { tokens: [{ id: 'a', sha256: secret.padEnd(64, '0') }] } },
    };
    await one.gateway.reload(config());
    const { body } = await fix(
      JSON.stringify({ ...holder, timout: '2s' }).replace(/the-secret-of-the-gateway0*/, '***'),
    );
    ok(!body.text.includes(secret) && body.text.includes('"timeout"'));
  });

  it('rejects a text that cannot be parsed or corrected', async () => {
    equal((await fix('{"version": 3, "endpoints": [}')).status, 400);
  });

  it('rejects a text of more than 512 KiB', async () => {
    const { status, body } = await fix(JSON.stringify({ version: 3, name: 'x'.repeat(512 * 1024) }));
    deepEqual(
      [status, body.detail],
      [413, 'texts of more than 524288 characters are not corrected: use sluice check --fix'],
    );
  });

  it('requires the scope check', async () => {
    equal((await one.ask('/v1/fix', { method: 'POST', body: '{}', token: null })).status, 401);
  });
});
