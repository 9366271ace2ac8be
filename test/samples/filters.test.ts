import { deepEqual } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { serveSample } from './serve.ts';

describe('the sample "filters"', () => {
  let sample: Awaited<ReturnType<typeof serveSample>>;

  before(async () => {
    sample = await serveSample('filters');
  });
  after(() => sample.close());

  const statusOf = async (url: string, headers: Record<string, string> = {}) =>
    (await sample.gateway.inject({ url, headers })).statusCode;

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/filters/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  const agreed = { cookie: 'consent=yes', 'x-tenant': 'shop' };

  it('requires consent and a tenant, and hides one user', async () => {
    deepEqual(
      [
        await statusOf('/users/1', agreed),
        await statusOf('/users/2', agreed),
        await statusOf('/users/1', { 'x-tenant': 'shop' }),
        await statusOf('/users/1', { cookie: 'consent=yes' }),
      ],
      [200, 404, 403, 403],
    );
  });

  it('rewrites a path, and removes an email address', async () => {
    for (const url of ['/me', '/u-1']) {
      deepEqual((await sample.gateway.inject({ url, headers: agreed })).json().email, '...@example.test');
    }
  });

  it('sets the country of the client, and rejects some countries', async () => {
    const from = (ip: string) => statusOf('/carts/1', { 'x-forwarded-for': ip });
    deepEqual([await from('192.0.2.7'), await from('203.0.113.7'), await from('198.51.100.7')], [200, 451, 403]);
  });
});
