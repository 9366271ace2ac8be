import { deepEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Operations } from '#kernel';
import { sluice } from '../kernel/cli/command.ts';
import { startBackend, startGateway, type TestBackend } from '../support/gateway.ts';

describe('the sample "conditional"', () => {
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    backend = await startBackend(({ target }, response) => response.end(JSON.stringify({ path: target })));
    const config = JSON.parse(readFileSync('samples/conditional/gateway.json', 'utf8'));
    gateway = await startGateway({ ...config, host: [backend.url] });
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/conditional/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('calls the backend whose condition is true, or the fallback', async () => {
    const get = async (headers: Record<string, string>) =>
      JSON.parse((await gateway.inject({ url: '/prices/1', headers })).body);
    deepEqual(await get({}), { path: '/echo/all/1' });
    deepEqual(await get({ 'x-market': 'de' }), { path: '/echo/de/1' });
    deepEqual(await get({ 'x-market': 'de', 'x-beta': '1' }), { path: '/echo/de/1', beta: { path: '/echo/beta/1' } });
  });
});
