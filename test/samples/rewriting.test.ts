import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Operations } from '#kernel';
import { sluice } from '../kernel/cli/command.ts';
import { json, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';

describe('the sample "rewriting"', () => {
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    backend = await startBackend((seen, response) => {
      response.setHeader('ETag', '"1"');
      json({ id: 1 }, seen.target === '/missing' ? 404 : 200)(seen, response);
    });
    const config = JSON.parse(readFileSync('samples/rewriting/gateway.json', 'utf8'));
    gateway = await startGateway({ ...config, host: [backend.url] });
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/rewriting/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('adds a credential and a query parameter', async () => {
    equal((await gateway.inject('/users/1')).statusCode, 200);
    const { target, headers } = backend.requests.at(-1)!;
    deepEqual(
      [target, headers.authorization, headers['x-forwarded-host']],
      ['/echo/1?fields=public', 'Basic ZGVtbzo=', undefined],
    );
  });

  it('routes beta users to another backend', async () => {
    await gateway.inject({ url: '/users/1', headers: { 'x-version': '2-beta' } });
    const { target, headers } = backend.requests.at(-1)!;
    deepEqual([target, headers['x-version']], ['/users/1/cart?fields=public', undefined]);
  });

  it('returns a default response instead of 404', async () => {
    const { statusCode, body } = await gateway.inject('/missing');
    deepEqual([statusCode, JSON.parse(body)], [200, { items: [] }]);
  });

  it('sets a cookie and removes headers', async () => {
    const { headers } = await gateway.inject('/raw');
    deepEqual([String(headers['set-cookie']), headers['etag']], ['seen=1; Path=/; Max-Age=3600; HttpOnly', undefined]);
  });
});
