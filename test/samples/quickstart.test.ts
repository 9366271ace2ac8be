import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Gateway } from '../../kernel/sluice.ts';
import { createUpstream } from '../../samples/quickstart/upstream.ts';
import { startGateway } from '../support/gateway.ts';

describe('the sample "quickstart"', () => {
  let upstream: Server;
  let gateway: Gateway;

  before(async () => {
    upstream = createUpstream().listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    const config = JSON.parse(readFileSync('samples/quickstart/gateway.json', 'utf8'));
    gateway = await startGateway({ ...config, host: [`http://127.0.0.1:${port}`] });
  });

  after(async () => {
    await gateway.close();
    upstream.close();
  });

  it('merges the responses of three backends', async () => {
    const response = await gateway.inject('/home/1');
    equal(response.headers['x-gateway-completed'], 'true');
    equal(response.headers['cache-control'], 'public, max-age=60');
    deepEqual(Object.keys(response.json()), ['user', 'posts', 'cart']);
  });

  it('filters the response of one backend', async () => {
    deepEqual((await gateway.inject('/users/1')).json(), {
      user_id: 1,
      name: 'Ada',
      company: { id: 7, name: 'Engines' },
    });
  });

  it('calls a second backend with a value from the first', async () => {
    deepEqual((await gateway.inject('/users/2/company')).json(), {
      name: 'Grace',
      company: { id: 8, city: 'Arlington' },
    });
  });

  it('validates the body of a POST', async () => {
    const refused = await gateway.inject({ method: 'POST', url: '/orders', payload: { article: 'pen', amount: 0 } });
    equal(refused.statusCode, 400);
    equal(refused.body, '- amount: Must be greater than or equal to 1');
    const placed = await gateway.inject({ method: 'POST', url: '/orders', payload: { article: 'pen', amount: 2 } });
    deepEqual(placed.json(), { order: 1001, received: { article: 'pen', amount: 2 } });
  });

  it('forwards a response unchanged', async () => {
    const response = await gateway.inject('/raw/1');
    equal(response.headers['x-gateway-completed'], 'false');
    equal(response.json().email, 'ada@example.test');
  });
});
