import { deepEqual } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { serveSample } from './serve.ts';

describe('the sample of scripts', () => {
  let sample: Awaited<ReturnType<typeof serveSample>>;

  before(async () => {
    sample = await serveSample('scripts');
  });
  after(() => sample.close());

  const ask = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await sample.gateway.inject({ url, headers });
    return [answer.statusCode, answer.statusCode === 200 ? answer.json() : answer.body];
  };

  it('is checked without a finding', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/scripts/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('shows people as its file says', async () => {
    deepEqual(await ask('/users/1'), [200, { id: 1, name: 'ADA', company: 'Engines' }]);
    deepEqual(await ask('/users/one'), [400, '']);
  });

  it('leads old addresses to new ones', async () => {
    deepEqual(await ask('/me', { 'x-user-id': '2' }), [200, { id: 2, name: 'GRACE', company: 'Compilers' }]);
    deepEqual((await ask('/me'))[0], 404);
  });

  it('answers by itself', async () => deepEqual(await ask('/status'), [200, { up: true }]));
});
