import { deepEqual, equal } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { serveSample } from './serve.ts';

describe('the sample "cors"', () => {
  let sample: Awaited<ReturnType<typeof serveSample>>;

  before(async () => {
    sample = await serveSample('cors');
  });
  after(() => sample.close());

  const from = (origin: string) => ({ origin });

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/cors/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('allows pages of the shop to read users', async () => {
    const { headers } = await sample.gateway.inject({ url: '/users/1', headers: from('https://www.shop.example') });
    equal(headers['access-control-allow-origin'], 'https://www.shop.example');
    equal(headers['access-control-allow-credentials'], 'true');
  });

  it('allows pages of the shop to place orders, in a preflight', async () => {
    const { statusCode, headers } = await sample.gateway.inject({
      method: 'OPTIONS',
      url: '/orders',
      headers: {
        ...from('https://www.shop.example'),
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });
    deepEqual(
      [statusCode, headers['access-control-allow-headers'], headers['access-control-max-age']],
      [204, 'content-type', '43200'],
    );
  });

  it('allows any page to read public data, and nothing else', async () => {
    const open = await sample.gateway.inject({ url: '/public/companies/7', headers: from('https://anybody.example') });
    deepEqual([open.headers['access-control-allow-origin'], open.json().city], ['*', 'London']);
    const closed = await sample.gateway.inject({ url: '/users/1', headers: from('https://anybody.example') });
    deepEqual([closed.statusCode, closed.headers['access-control-allow-origin']], [200, undefined]);
  });
});
