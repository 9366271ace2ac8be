import { deepEqual, equal } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { serveSample } from './serve.ts';

describe('the sample "hosts"', () => {
  let sample: Awaited<ReturnType<typeof serveSample>>;

  before(async () => {
    sample = await serveSample('hosts');
  });
  after(() => sample.close());

  const asked = (host: string, url = '/customers/1') => sample.gateway.inject({ url, headers: { host } });

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/hosts/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('serves a different endpoint for each host', async () => {
    deepEqual((await asked('shop.example.test:8080')).json(), { items: 3, total: 59.97 });
    deepEqual((await asked('HELP.example.test:8080')).json(), { name: 'Ada' });
  });

  it('serves the common endpoint for any other host', async () => {
    equal((await asked('localhost:8080')).json().email, 'ada@example.test');
  });

  it('does not serve the internal path of a host', async () => {
    equal((await asked('shop.example.test:8080', '/__virtual/shop/customers/1')).statusCode, 404);
  });
});
