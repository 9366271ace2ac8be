import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { hash } from 'node:crypto';
import { type Ask, config, openAdmin, type TestAdmin } from './support.ts';

const KEY = 'a-very-secret-key';
const DATABASE = 'postgres://user:word@db.test';

/** The first endpoint contains secrets: in a field with the name of a secret, and in a URL. */
const secretive = (data: object = { password: KEY, database: DATABASE, alg: 'HS256' }) => {
  const [first, ...others] = config('/z', '/a').endpoints;
  const components = { proxy: { static: { strategy: 'always', data } } };
  return { version: 3, endpoints: [{ ...first, extra_config: components }, ...others] };
};

/** Pointer of the data in the first endpoint. */
const DATA = '/endpoints/0/extra_config/proxy/static/data';

describe('the configuration returned by the admin API', () => {
  let one: TestAdmin;
  beforeEach(async () => {
    one = await openAdmin(secretive());
  });
  afterEach(() => one.close());

  const show = (query = '', ask: Ask = {}) => one.ask(`/v1/config${query}`, ask);
  const put = (body: object, query = '') => one.ask(`/v1/config${query}`, { method: 'PUT', body });

  it('contains all defaults', async () => {
    const { status, body } = await show();
    equal(status, 200);
    deepEqual([body.timeout, body.endpoints[0].endpoint, body.endpoints[0].method], ['2s', '/a', 'GET']);
  });

  it('is the source text if requested', async () => {
    const { body } = await show('?form=source');
    deepEqual(Object.keys(body), ['version', 'endpoints']);
    deepEqual((await show('?form=rendered')).body, body);
  });

  it('is the value at a pointer if requested', async () => {
    equal((await show('?form=source&pointer=/endpoints/1/endpoint')).text, '"/a"');
    equal((await show(`?form=source&pointer=${DATA}/alg`)).text, '"HS256"');
  });

  it('is answered 404 for a missing value', async () => {
    for (const pointer of ['/none', '/endpoints/7', '/endpoints/length', '/__proto__', '/version/x']) {
      equal((await show(`?pointer=${pointer}`)).status, 404, pointer);
    }
  });

  it('is answered 400 for an invalid pointer', async () => equal((await show('?pointer=endpoints')).status, 400));

  it('is YAML if requested', async () => {
    const { headers, text } = await show('?form=source', { headers: { accept: 'application/yaml' } });
    equal(headers['content-type'], 'application/yaml');
    match(text, /^version: 3\nendpoints:\n {2}- endpoint: \/z\n {4}backend:\n[\s\S]* {12}password: "\*\*\*"\n/);
  });

  it('can be sent back as YAML', async () => {
    const { text } = await show('?form=source', { headers: { accept: 'application/yaml' } });
    const headers = { 'content-type': 'application/yaml' };
    equal((await one.ask('/v1/config', { method: 'PUT', body: text, headers })).body.result, 'unchanged');
  });

  it('is answered with 304 if the client already has it', async () => {
    const { headers } = await show();
    const again = await show('', { headers: { 'if-none-match': `"0", W/${headers['etag']}` } });
    deepEqual([again.status, again.text, again.headers['etag']], [304, '', headers['etag']]);
    await put(config('/b'));
    equal((await show('', { headers: { 'if-none-match': headers['etag']! } })).status, 200);
  });

  describe('with secrets', () => {
    it('shows *** in their place', async () => {
      for (const query of ['', '?form=source', '?pointer=/endpoints/1', `?form=source&pointer=${DATA}`]) {
        const { text } = await show(query);
        ok(text.includes('***'), query);
        ok(!text.includes(KEY) && !text.includes('user:word'), text);
      }
    });

    it('shows *** even if exactly that value is requested', async () => {
      equal((await show(`?form=source&pointer=${DATA}/password`)).text, '"***"');
    });

    it('shows the secrets to a token with the required scope, on request', async () => {
      equal((await show(`?form=source&pointer=${DATA}/password&reveal=true`)).text, `"${KEY}"`);
    });

    it('rejects a request to show them without that scope', async () => {
      const other = await openAdmin(
        {
          ...config(),
          extra_config: { 'admin/api': { tokens: [{ id: 'r', sha256: hash('sha256', 'r'), scopes: ['read'] }] } },
        },
        { token: undefined },
      );
      const { status, body } = await other.ask('/v1/config?reveal=true', { token: 'r' });
      deepEqual([status, body.type], [403, 'urn:gateway:problem:insufficient-scope']);
      await other.close();
    });

    it('masks them in a comparison', async () => {
      const changed = secretive({ password: 'another', database: DATABASE, alg: 'HS256' });
      const { body, text } = await one.ask('/v1/config/diff', { method: 'POST', body: changed });
      ok(!text.includes(KEY) && !text.includes('another'), text);
      const change = body.changes.find(({ pointer }: { pointer: string }) => pointer.endsWith('/password'));
      deepEqual([change.op, change.from, change.to], ['replace', '***', '***']);
    });

    it('masks secrets that only the schema of a component marks', async () => {
      const client = { 'backend/http/client': { proxy_address: 'http://proxy.internal:3128' } };
      const backend = [{ host: ['http://b'], url_pattern: '/', extra_config: client }];
      equal((await put({ ...config(), endpoints: [{ endpoint: '/a', backend }] })).status, 200);
      for (const query of ['', '?form=source']) {
        const { text, body } = await show(query);
        ok(!text.includes('proxy.internal') && text.includes('"proxy_address":"***"'), query);
        equal((await put(body)).body.result, 'unchanged', query);
      }
      const revealed = await show('?form=source&reveal=true');
      deepEqual(revealed.body.endpoints[0].backend[0].extra_config, client);
    });

    it('masks them in the history', async () => {
      const { body } = await one.ask('/v1/revisions/1?content=true');
      ok(!body.content.includes(KEY) && body.content.includes('***'));
      ok((await one.ask('/v1/revisions/1?content=true&reveal=true')).body.content.includes(KEY));
    });
  });

  describe('sent back with *** for secrets', () => {
    const current = (pointer: string) => show(`?form=source&reveal=true&pointer=${pointer}`);

    it('keeps the secrets', async () => {
      for (const query of ['', '?form=source']) {
        const { body } = await show(query);
        equal((await put(body)).body.result, 'unchanged', query);
      }
    });

    it('keeps the secrets if other values are changed', async () => {
      const { body } = await show('?form=source');
      equal((await put({ ...body, timeout: '7s' })).body.result, 'applied');
      deepEqual((await current(DATA)).body, { password: KEY, database: DATABASE, alg: 'HS256' });
    });

    it('keeps the secrets of endpoints that were moved', async () => {
      const { body } = await show('?form=source');
      const fresh = config('/new').endpoints[0];
      await put({ ...body, endpoints: [fresh, ...body.endpoints.toReversed()] });
      equal((await current('/endpoints/2/endpoint')).text, '"/z"');
      equal((await current(DATA.replace('/0/', '/2/'))).body.password, KEY);
    });

    it('keeps *** as text in any other field', async () => {
      const { body } = await show('?form=source');
      const [first, second] = body.endpoints;
      const data = { password: '***', alg: '***', token: '***' };
      const components = { proxy: { static: { strategy: 'always', data } } };
      await put({ ...body, name: '***', endpoints: [{ ...first, extra_config: components }, second] });
      equal((await current('/name')).text, '"***"');
      deepEqual((await current(DATA)).body, { password: KEY, alg: '***', token: '***' });
    });

    it('keeps the secrets in a patch', async () => {
      const body = [
        { op: 'add', path: '/name', value: 'new' },
        { op: 'replace', path: `${DATA}/password`, value: '***' },
      ];
      const headers = { 'content-type': 'application/json-patch+json', 'if-match': '*' };
      equal((await one.ask('/v1/config', { method: 'PATCH', body, headers })).status, 200);
      deepEqual((await current(`${DATA}/password`)).body, KEY);
    });
  });
});

describe('the source text of a configuration', () => {
  it('is returned with its comments only to tokens that may see secrets', async () => {
    const one = await openAdmin();
    const text = '# the reason\nversion: 3\n';
    await one.ask('/v1/config', { method: 'PUT', body: text, headers: { 'content-type': 'application/yaml' } });
    const headers = { accept: 'application/yaml' };
    equal((await one.ask('/v1/config?form=source&reveal=true', { headers })).text, text);
    equal((await one.ask('/v1/config?form=source', { headers })).text, 'version: 3\n');
    equal((await one.ask('/v1/revisions/2?content=true&reveal=true')).body.content, text);
    await one.close();
  });
});
