import { deepEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Operations } from '#kernel';
import { sluice } from '../kernel/cli/command.ts';
import { json, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';

describe('the sample "reshaping"', () => {
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    const posts = [
      { title: 'Notes', draft: false },
      { title: 'Bernoulli numbers', draft: true },
    ];
    backend = await startBackend((seen, response) =>
      json(seen.target.endsWith('/posts') ? posts : { id: 1, name: 'Ada', order: 1001, state: 'placed' })(
        seen,
        response,
      ),
    );
    const config = JSON.parse(readFileSync('samples/reshaping/gateway.json', 'utf8'));
    gateway = await startGateway({ ...config, host: [backend.url] });
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/reshaping/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('merges the responses of two backends into one object', async () => {
    const { body, headers } = await gateway.inject('/users/1');
    deepEqual(JSON.parse(body), { name: 'Ada', published: ['Notes'] });
    deepEqual([headers['x-served-by'], headers['x-gateway']], ['gateway', undefined]);
  });

  it('generates request and response bodies from templates', async () => {
    const { body } = await gateway.inject({ method: 'POST', url: '/carts', payload: { sku: 'a-1' } });
    deepEqual(JSON.parse(String(backend.requests.at(-1)!.body)), { order: { sku: 'a-1' }, by: 'gateway' });
    deepEqual(JSON.parse(body), { id: 1001, state: 'PLACED' });
  });

  it('sends values of the body as a header and a query parameter', async () => {
    const payload = { auth: { key: 'k1' }, items: [{ sku: 'a-1' }] };
    await gateway.inject({ method: 'POST', url: '/orders', payload });
    const { target, headers, body } = backend.requests.at(-1)!;
    deepEqual([target, headers['x-key'], JSON.parse(String(body))], ['/echo/orders?first=a-1', 'k1', payload]);
  });
});
