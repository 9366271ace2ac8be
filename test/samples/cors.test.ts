import { deepEqual, equal } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { serveSample } from './serve.ts';

describe('the sample of CORS', () => {
  let sample: Awaited<ReturnType<typeof serveSample>>;

  before(async () => {
    sample = await serveSample('cors');
  });
  after(() => sample.close());

  const from = (origin: string) => ({ origin });

  it('is checked without a finding', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/cors/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('lets pages of the shop read users', async () => {
    const { headers } = await sample.gateway.inject({ url: '/users/1', headers: from('https://www.shop.example') });
    equal(headers['access-control-allow-origin'], 'https://www.shop.example');
    equal(headers['access-control-allow-credentials'], 'true');
  });

  it('tells them that they may place orders', async () => {
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

  it('lets any page read open data, and nothing else', async () => {
    const open = await sample.gateway.inject({ url: '/public/companies/7', headers: from('https://anybody.example') });
    deepEqual([open.headers['access-control-allow-origin'], open.json().city], ['*', 'London']);
    const closed = await sample.gateway.inject({ url: '/users/1', headers: from('https://anybody.example') });
    deepEqual([closed.statusCode, closed.headers['access-control-allow-origin']], [200, undefined]);
  });
});
