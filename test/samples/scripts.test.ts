import { deepEqual } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { serveSample } from './serve.ts';

describe('the sample "scripts"', () => {
  let sample: Awaited<ReturnType<typeof serveSample>>;

  before(async () => {
    sample = await serveSample('scripts');
  });
  after(() => sample.close());

  const ask = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await sample.gateway.inject({ url, headers });
    return [answer.statusCode, answer.statusCode === 200 ? answer.json() : answer.body];
  };

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/scripts/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('reshapes users with a Lua file', async () => {
    deepEqual(await ask('/users/1'), [200, { id: 1, name: 'ADA', company: 'Engines' }]);
    deepEqual(await ask('/users/one'), [400, '']);
  });

  it('redirects old paths to new ones', async () => {
    deepEqual(await ask('/me', { 'x-user-id': '2' }), [200, { id: 2, name: 'GRACE', company: 'Compilers' }]);
    deepEqual((await ask('/me'))[0], 404);
  });

  it('responds from a script without a backend', async () => deepEqual(await ask('/status'), [200, { up: true }]));
});
