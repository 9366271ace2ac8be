import { deepEqual, equal, match } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Operations } from '#kernel';
import { sluice } from '../kernel/cli/command.ts';
import { json, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';

describe('the sample "website"', () => {
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    backend = await startBackend(json({ id: 1 }));
    const config = JSON.parse(readFileSync('samples/website/gateway.json', 'utf8'));
    gateway = await startGateway({ ...config, host: [backend.url] });
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/website/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('serves a page and a style sheet, which browsers may cache', async () => {
    const page = await gateway.inject('/');
    match(page.body, /<h1>A site and its API/);
    const { headers } = await gateway.inject('/style.css');
    equal(headers['content-type'], 'text/css; charset=utf-8');
    const again = await gateway.inject({ url: '/style.css', headers: { 'if-none-match': String(headers['etag']) } });
    equal(again.statusCode, 304);
  });

  it('returns the data of a file', async () => {
    deepEqual((await gateway.inject('/api/rooms/1')).json(), { id: 1, view: 'sea' });
    equal((await gateway.inject('/api/rooms/2')).statusCode, 500);
  });

  it('serves an API on the same port, and nothing else', async () => {
    deepEqual((await gateway.inject('/api/users/1')).json(), { id: 1 });
    equal((await gateway.inject('/nothing')).statusCode, 404);
  });
});
