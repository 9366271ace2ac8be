import { deepEqual, equal } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { serveSample } from './serve.ts';

describe('the sample "traffic"', () => {
  let sample: Awaited<ReturnType<typeof serveSample>>;

  before(async () => {
    sample = await serveSample('traffic');
  });
  after(() => sample.close());

  const ask = (url: string, agent = 'curl/8.1') => sample.gateway.inject({ url, headers: { 'user-agent': agent } });

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/traffic/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('accepts the monitoring bot and no other', async () => {
    equal((await ask('/__health', 'UptimeBot/2.1')).statusCode, 200);
    equal((await ask('/__health', 'Googlebot/2.1')).statusCode, 403);
    equal((await ask('/__health', '')).statusCode, 403);
  });

  it('answers a client twice, then returns 429 with Retry-After', async () => {
    const responses = [await ask('/users/1'), await ask('/users/1'), await ask('/users/1')];
    deepEqual(
      responses.map(({ statusCode }) => statusCode),
      [200, 200, 429],
    );
    equal(Number(responses[2]!.headers['retry-after']) > 0, true);
  });

  it('limits callers according to their plan', async () => {
    const plan = async (headers: Record<string, string>) =>
      (await sample.gateway.inject({ url: '/plans/1', headers: { 'user-agent': 'curl/8.1', ...headers } })).statusCode;
    deepEqual([await plan({}), await plan({}), await plan({ 'x-plan': 'gold' })], [200, 429, 200]);
  });

  it('omits the cart if its backend was called just before', async () => {
    deepEqual(Object.keys((await ask('/home/1')).json()), ['name', 'cart']);
    const second = await ask('/home/1');
    deepEqual([second.headers['x-gateway-completed'], Object.keys(second.json())], ['false', ['name']]);
  });

  it('does not call a failing upstream for a while', async () => {
    const failing = async () => (await ask('/missing')).statusCode;
    deepEqual([await failing(), await failing(), await failing()], [500, 500, 500]);
  });
});
