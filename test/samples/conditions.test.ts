import { deepEqual, equal } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { serveSample } from './serve.ts';

describe('the sample "conditions"', () => {
  let sample: Awaited<ReturnType<typeof serveSample>>;

  before(async () => {
    sample = await serveSample('conditions');
  });
  after(() => sample.close());

  const statusOf = async (url: string) => (await sample.gateway.inject(url)).statusCode;

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/conditions/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('accepts only numbers as ids, and hides one company from others', async () => {
    deepEqual(await Promise.all(['/users/1', '/users/2', '/users/one'].map(statusOf)), [200, 403, 404]);
  });

  it('omits a part unless it is requested', async () => {
    const partsFor = async (headers: Record<string, string>) => {
      const response = await sample.gateway.inject({ url: '/home/1', headers });
      return [Object.keys(response.json()), response.headers['x-gateway-completed']];
    };
    deepEqual(await partsFor({}), [['user'], 'false']);
    deepEqual(await partsFor({ 'x-kind': 'full' }), [['user', 'cart'], 'true']);
  });

  it('rejects requests on Sundays', async () => {
    const isSunday = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'Europe/Paris' }).format() === 'Sunday';
    const { statusCode } = await sample.gateway.inject({ method: 'POST', url: '/orders', payload: { article: 'pen' } });
    equal(statusCode, isSunday ? 503 : 200);
  });
});
