import { deepEqual } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { checkFilled } from './filled-check.ts';
import { serveSample } from './serve.ts';

describe('the sample "access"', () => {
  let sample: Awaited<ReturnType<typeof serveSample>>;

  before(async () => {
    sample = await serveSample('access');
  });
  after(() => sample.close());

  const statusOf = async (url: string, headers: Record<string, string> = {}) =>
    (await sample.gateway.inject({ url, headers })).statusCode;

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/access/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('accepts an API key by its role, five times a second', async () => {
    const headers = { 'x-api-key': 'sample-key-of-the-app' };
    deepEqual([await statusOf('/users/1'), await statusOf('/users/1', headers)], [401, 200]);
    const statuses = [];
    for (let count = 0; count < 6; count++) statuses.push(await statusOf('/users/1', headers));
    deepEqual(statuses.at(-1), 429);
  });

  it('accepts the users of the password file', async () => {
    const ada = (password: string) => ({ authorization: `Basic ${btoa(`ada:${password}`)}` });
    const statuses = [await statusOf('/reports'), await statusOf('/reports', ada('x'))];
    deepEqual([...statuses, await statusOf('/reports', ada('sample-password'))], [401, 401, 200]);
  });

  it("accepts an admin's key in the query", async () => {
    deepEqual(
      [await statusOf('/carts/1?key=sample-key-of-the-app'), await statusOf('/carts/1?key=sample-key-of-the-office')],
      [403, 200],
    );
  });

  it('passes check without warnings for its backends', async () => {
    const { code, err } = await checkFilled('samples/access/backends.json', { NTLM_PASSWORD: 'of-the-sample' });
    deepEqual([code, err], [0, '']);
  });
});
