import { deepEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Operations } from '#kernel';
import { sluice } from '../kernel/cli/command.ts';
import { startBackend, startGateway, type TestBackend } from '../support/gateway.ts';

describe('the sample "workflow"', () => {
  let backend: TestBackend;
  let gateway: Operations;
  const data: Record<string, object> = {
    '/orders/1': { id: 1 },
    '/owners/1': { user: 'ada' },
    '/users/ada': { plan: 'gold' },
  };

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      const body = data[target];
      response.writeHead(body ? 200 : 404).end(JSON.stringify(body ?? {}));
    });
    const config = JSON.parse(readFileSync('samples/workflow/gateway.json', 'utf8'));
    gateway = await startGateway({ ...config, host: [backend.url] });
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/workflow/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('returns an order with its customer', async () => {
    const { body } = await gateway.inject('/orders/1');
    deepEqual(JSON.parse(body), { id: 1, customer: { id: 'ada', account: { plan: 'gold' } } });
  });

  it('returns an order without its customer if the customer does not exist', async () => {
    data['/orders/2'] = { id: 2 };
    const { body, headers } = await gateway.inject('/orders/2');
    deepEqual([JSON.parse(body), headers['x-gateway-completed']], [{ id: 2, customer: {} }, 'false']);
  });
});
