import { deepEqual } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { serveSample } from './serve.ts';

describe('the sample of filters', () => {
  let sample: Awaited<ReturnType<typeof serveSample>>;

  before(async () => {
    sample = await serveSample('filters');
  });
  after(() => sample.close());

  const statusOf = async (url: string, headers: Record<string, string> = {}) =>
    (await sample.gateway.inject({ url, headers })).statusCode;

  it('is checked without a finding', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/filters/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('is for those who have agreed and name their tenant, and keeps a user to itself', async () => {
    const agreed = { cookie: 'consent=yes', 'x-tenant': 'shop' };
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
});
