import { deepEqual, equal, match } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/documentation/openapi/index.ts';
import { createFolder, type Folder, sluice } from '../../../kernel/cli/command.ts';
import { startCommand } from '../../../kernel/cli/running.ts';
import { startGateway } from '../../../support/gateway.ts';
import { documented, endpoint, OPENAPI, validate } from '../fixture.ts';
import { operation, spec } from './import-fixture.ts';

const settings = (serve?: object) => ({ extra_config: { [OPENAPI]: { ...(serve && { serve }) } } });

describe('a gateway that serves its OpenAPI document', () => {
  let gateway: Operations;
  before(async () => {
    gateway = await startGateway({
      name: '<script>alert(1)</script>',
      endpoints: [documented('/a', { audience: ['public'], summary: '<b>bold</b>' }), endpoint('/b')],
      ...settings({ path: '/docs' }),
    });
  });
  after(() => gateway.close());

  it('returns the document below the configured path', async () => {
    const { statusCode, headers, body } = await gateway.inject('/docs/openapi.json');
    deepEqual([statusCode, headers['content-type']], [200, 'application/json']);
    deepEqual(Object.keys(JSON.parse(body).paths), ['/a', '/b']);
    await validate(JSON.parse(body));
  });

  it('returns the same document for every request', async () => {
    const heads = [];
    for (let index = 0; index < 3; index++) {
      const { date: _date, ...headers } = (await gateway.inject('/docs')).headers;
      heads.push(headers);
    }
    deepEqual(heads, [heads[0], heads[0], heads[0]]);
    equal(typeof heads[0]!['x-gateway'], 'string');
  });

  it('returns a page that escapes all texts and runs no scripts', async () => {
    const { headers, body } = await gateway.inject('/docs');
    match(String(headers['content-security-policy']), /^default-src 'none'/);
    match(body, /&lt;b&gt;bold&lt;\/b&gt;/);
    equal(/<script|<b>/.test(body), false);
  });

  it('returns the document of the active configuration after a reload', async () => {
    await gateway.reload({ version: 3, endpoints: [endpoint('/c')], ...settings({ path: '/', audience: 'nobody' }) });
    equal((await gateway.inject('/docs')).statusCode, 404);
    deepEqual((await gateway.inject('/openapi.json')).json().paths, {});
    await gateway.reload({ version: 3, endpoints: [endpoint('/d')], ...settings({ path: '/' }) });
    deepEqual(Object.keys((await gateway.inject('/openapi.json')).json().paths), ['/d']);
  });

  it('serves nothing by default', async () => {
    await gateway.reload({ version: 3, endpoints: [endpoint('/a')], ...settings() });
    equal((await gateway.inject('/openapi.json')).statusCode, 404);
  });
});

describe('documentation/openapi at an endpoint', () => {
  it('does not affect requests', async () => {
    const gate = await openHarness(plugin, 'endpoint', { audience: ['nobody'] });
    equal((await gate.send('GET /')).status, 200);
    deepEqual(Object.keys(gate.attached), []);
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });

  it('warns about settings for unknown parameters', async () => {
    const gate = await openHarness(
      plugin,
      'endpoint',
      {},
      {
        endpoint: { extra_config: { [OPENAPI]: { query_definition: [{ name: 'page' }] } } },
      },
    );
    deepEqual(
      gate.warnings.map(({ code, message }) => [code, message]),
      [['OPENAPI_PARAMETER', "the endpoint has no query parameter 'page'"]],
    );
    await gate.close();
  });
});

describe('sluice serve openapi', () => {
  let folder: Folder;
  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  it("serves the gateway's document and its page until it is stopped", async () => {
    const file = folder.write('spec.json', spec({ '/a': { get: operation({ summary: 'All of it' }) } }));
    const running = startCommand({}, 'serve', 'openapi', file, '--base-host', 'http://127.0.0.1:9', '-p', '0');
    const [, port] = await running.printed(/on port (\d+)/);
    match(await (await fetch(`http://127.0.0.1:${port}/docs`)).text(), /All of it/);
    equal((await fetch(`http://127.0.0.1:${port}/a`)).status, 500);
    running.kill('SIGTERM');
    equal(await running.ended, 0);
  });

  it('fails for an unreadable document or an invalid port', async () => {
    equal((await sluice('serve', 'openapi', folder.path('none.json'))).code, 1);
    equal((await sluice('openapi', 'serve', 'x.json', '-p', 'x')).code, 2);
  });
});
