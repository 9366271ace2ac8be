import { equal, match } from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFolder, type Folder, sluice } from '../command.ts';

const endpoints = [{ endpoint: '/users/{id}', backend: [{ url_pattern: '/v1/{id}', deny: ['password'] }] }];
const config = { version: 3, host: ['http://users:8000'], endpoints };
const users = { url: '/v1/*', response: { body: { id: 1, password: 'x' } } };

describe('sluice e2e', () => {
  let folder: Folder;
  before(() => {
    folder = createFolder();
    folder.write('gateway.json', config);
    mkdirSync(folder.path('specs'));
  });
  after(() => folder.remove());

  const run = (spec: object, ...args: string[]) => {
    folder.write('specs/users.json', spec);
    return sluice('e2e', '-c', folder.path('gateway.json'), folder.path('specs'), ...args);
  };
  const url = 'http://localhost:8080/users/1?a=1';

  it('runs specs of KrakenD', async () => {
    const header = { 'content-type': ['application/json; charset=utf-8'], 'Cache-Control': [''] };
    const out = { status_code: 200, body: { id: 1 }, header };
    const { code, out: text } = await run({ '@comment': 'x', in: { url, method: 'GET' }, out, backends: { users } });
    equal(code, 0, text);
    match(text, /^1 passed/m);
  });

  it('names the place of an unmet expectation', async () => {
    const out = { status_code: 201, header: { 'x-a': ['1'] }, body: 'text', schema: { type: 'array' } };
    const { code, out: text } = await run({ in: { url }, out, backends: { users } });
    equal(code, 1);
    match(text, /✘ users\n {4}status is 200, not 201 {2}.*users\.json:\d+:\d+\n/);
    match(text, /header x-a is missing/);
    match(text, /body differs/);
    match(text, /body does not match the schema/);
  });

  it('sends the host of the URL, for virtual hosts', async () => {
    const hosts = { 'server/virtualhost': { aliased_hosts: { shop: 'shop.example.test:8080' } } };
    const own = [{ endpoint: '/__virtual/shop/users/{id}', backend: [{ url_pattern: '/v1/{id}' }] }];
    folder.write('gateway.json', { ...config, extra_config: hosts, endpoints: own });
    const shop = 'http://shop.example.test:8080/users/1';
    const spec = { in: { url: shop }, out: { status_code: 200 }, backends: { users } };
    const { code, out: text } = await run(spec);
    equal(code, 0, text);
    match(text, /^all 1 endpoint have a test$/m);
    folder.write('gateway.json', config);
  });

  it('sends requests without a mock to their servers', async () => {
    const server = createServer((_request, response) => response.end('{"real":true}')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const host = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`];
    folder.write('gateway.json', { ...config, host });
    const { code, out: text } = await run({ in: { url }, out: { status_code: 200, body: { real: true } } });
    server.closeAllConnections();
    server.close();
    equal(code, 0, text);
  });
});
