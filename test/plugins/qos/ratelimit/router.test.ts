import { deepEqual, equal, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { type HarnessOptions, openHarness, type TestRequest } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/qos/ratelimit/router.ts';
import { ClientBuckets } from '../../../../plugins/shared/buckets/client-buckets.ts';
import { startGateway } from '../../../support/gateway.ts';

async function limited(config: object, around: HarnessOptions = {}) {
  const clock = { time: 0, now: () => clock.time };
  const gate = await openHarness(plugin, 'endpoint', config, { services: { clock }, ...around });
  const send = async (...requests: TestRequest[]) => {
    const statuses: number[] = [];
    for (const request of requests) statuses.push((await gate.send(request)).status);
    return statuses;
  };
  return { clock, gate, send };
}

const from = (ip: string): TestRequest => ({ ip });
const withHeader = (name: string, value: string): TestRequest => ({ headers: { [name]: value } });
const call = 'GET /';

const byTenant = { client_max_rate: 2, client_capacity: 2, every: '10m', strategy: 'header', key: 'X-Tenant' };

describe('qos/ratelimit/router', () => {
  it('returns 503 if all clients together exceed the limit', async () => {
    const { send } = await limited({ max_rate: 2, capacity: 2, every: '10m' });
    deepEqual(await send(call, call, call), [200, 200, 503]);
  });

  it('returns 429 only to the client that exceeds its limit', async () => {
    const { send } = await limited(byTenant);
    const a = withHeader('X-Tenant', 'a');
    deepEqual(await send(a, a, a, withHeader('x-tenant', 'b')), [200, 200, 429, 200]);
  });

  it('returns 429 for a request without the header that identifies its client', async () => {
    const { gate, send } = await limited(byTenant);
    deepEqual(await send(call, withHeader('X-Tenant', '')), [429, 429]);
    equal((await gate.send(call)).errors[0]?.code, 'RATELIMIT_CLIENT');
  });

  it('identifies clients by a path parameter', async () => {
    const endpoint = { endpoint: '/c/{id}/x' };
    const config = { client_max_rate: 1, client_capacity: 1, every: '10m', strategy: 'param', key: 'id' };
    const { send } = await limited(config, { endpoint });
    const one = { params: { Id: '1' } };
    deepEqual(await send(one, one, { params: { Id: '2' } }), [200, 429, 200]);
  });

  it('reads the client address from the first element of a header', async () => {
    const { send } = await limited({ client_max_rate: 1, every: '10m', strategy: 'ip', key: 'X-Real-Ip' });
    const first = withHeader('X-Real-Ip', '9.9.9.9, 1.1.1.1');
    deepEqual(await send(first, first, withHeader('X-Real-Ip', '8.8.8.8')), [200, 429, 200]);
  });

  it("uses the connection's address if the header contains no address", async () => {
    const { send } = await limited({ client_max_rate: 1, every: '10m', strategy: 'ip', key: 'X-Real-Ip' });
    deepEqual(await send(withHeader('X-Real-Ip', 'unknown'), call), [200, 429]);
  });

  it("checks the client's limit before the limit of all clients", async () => {
    const both = { client_max_rate: 1, client_capacity: 1, max_rate: 1, capacity: 1, every: '10m', strategy: 'ip' };
    const { send } = await limited(both);
    deepEqual(await send(from('10.0.0.1'), from('10.0.0.1'), from('10.0.0.2')), [200, 429, 503]);
  });

  it("consumes no shared token for a request that exceeds its client's limit", async () => {
    const both = { client_max_rate: 1, client_capacity: 1, max_rate: 2, capacity: 2, every: '10m', strategy: 'ip' };
    const { send } = await limited(both);
    const [a, b] = [from('10.0.0.1'), from('10.0.0.2')];
    deepEqual(await send(a, a, a, b), [200, 429, 429, 200]);
  });

  it('consumes a client token even if the shared limit rejects the request', async () => {
    const both = { client_max_rate: 1, client_capacity: 1, max_rate: 1, capacity: 1, every: '10m', strategy: 'ip' };
    const { send } = await limited(both);
    const [a, b] = [from('10.0.0.1'), from('10.0.0.2')];
    deepEqual(await send(a, b, b), [200, 503, 429]);
  });

  it('accepts another request once a token is available', async () => {
    const { clock, send } = await limited({ max_rate: 10, capacity: 1 });
    deepEqual(await send(call, call), [200, 503]);
    clock.time += 120;
    deepEqual(await send(call), [200]);
  });

  it('derives a capacity of 1 from a rate below one request a second', async () => {
    const { send } = await limited({ max_rate: 50, every: '10m' });
    deepEqual(await send(call, call), [200, 503]);
  });

  it('derives the client capacity from the client rate', async () => {
    const { send } = await limited({ client_max_rate: 3, strategy: 'ip' });
    deepEqual(await send(call, call, call, call), [200, 200, 200, 429]);
  });

  it('is inactive if no rate is above 0, which causes a warning', async () => {
    for (const config of [{ max_rate: 0 }, { max_rate: 0, client_max_rate: 0, strategy: 'ip' }]) {
      const { gate } = await limited(config);
      deepEqual(gate.attached, {});
      deepEqual(
        gate.warnings.map(({ code, pointer }) => [code, pointer]),
        [['RATELIMIT_OFF', '']],
      );
    }
  });

  it('neither reads the body nor calls the backend if it rejects a request', async () => {
    let calls = 0;
    const next = () => {
      calls++;
      throw new Error('not to be called');
    };
    const { send } = await limited(byTenant, { next });
    deepEqual(await send({ method: 'POST', body: 'x' }), [429]);
    equal(calls, 0);
  });

  it('rejects without a completeness header and without a message, even if return_error_msg is set', async () => {
    const { gate, send } = await limited({ max_rate: 1, every: '10m' });
    await send(call);
    const reply = await gate.send(call);
    equal(reply.complete, null);
    equal(reply.errors[0]?.message, 'rate limit exceded');
    equal(reply.errors[0]?.view.body, '');
  });

  it('returns Retry-After in whole seconds', async () => {
    const { clock, gate, send } = await limited({ max_rate: 1, capacity: 1, every: '10m' });
    const accepted = await gate.send(call);
    equal(accepted.headers.has('retry-after'), false);
    clock.time += 500;
    const { headers } = await gate.send(call);
    deepEqual(
      [...headers],
      [
        ['Retry-After', '600'],
        ['RateLimit-Limit', '1'],
        ['RateLimit-Remaining', '0'],
        ['RateLimit-Reset', '600'],
      ],
    );
    clock.time = 599_990;
    equal((await gate.send(call)).headers.get('retry-after'), '1');
    clock.time = 600_000;
    deepEqual(await send(call), [200]);
  });

  it('applies a changed limit immediately and keeps the count', async () => {
    const { gate, send } = await limited({ max_rate: 1, capacity: 1 });
    deepEqual(await send(call), [200]);
    await gate.reload({ max_rate: 1, capacity: 5 });
    deepEqual(await send(call), [503]);
  });

  it('keeps the counts of clients across a reload', async () => {
    const { gate, send } = await limited(byTenant);
    const a = withHeader('X-Tenant', 'a');
    await send(a, a);
    await gate.reload(byTenant);
    deepEqual(await send(a, withHeader('X-Tenant', 'b')), [429, 200]);
  });

  it('counts from zero if the client identification changes', async () => {
    const { gate, send } = await limited(byTenant);
    const a = { headers: { 'X-Tenant': 'a', 'X-User': 'a' } };
    await send(a, a);
    await gate.reload({ ...byTenant, key: 'X-User' });
    deepEqual(await send(a), [200]);
  });

  it('drops a client that was idle for ten minutes', async () => {
    const { clock, send } = await limited({ ...byTenant, client_max_rate: 1, client_capacity: 3 });
    const a = withHeader('X-Tenant', 'a');
    deepEqual(await send(a, a, a, a), [200, 200, 200, 429]);
    clock.time += 600_000;
    deepEqual(await send(a, a, a, a), [200, 200, 200, 429]);
  });

  it('does not drop a client before the end of the interval, even if that is longer', async () => {
    const { clock, send } = await limited({ ...byTenant, client_capacity: 3, client_max_rate: 1, every: '1h' });
    const a = withHeader('X-Tenant', 'a');
    await send(a, a, a);
    clock.time += 3_599_999;
    deepEqual(await send(a), [429]);
    clock.time += 4_500_000;
    deepEqual(await send(a, a, a, a), [200, 200, 200, 429]);
  });

  it('sweeps idle clients every cleanup period, and stops when its configuration is replaced', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    try {
      const swept: number[] = [];
      const clock = { time: 0, now: () => swept.push(clock.time) && clock.time };
      const gate = await openHarness(
        plugin,
        'endpoint',
        { ...byTenant, cleanup_period: '10ms' },
        { services: { clock } },
      );
      mock.timers.tick(999);
      deepEqual(swept, []);
      mock.timers.tick(1001);
      equal(swept.length, 2);
      deepEqual(await gate.close(), { kept: 0, deferred: 0 });
      mock.timers.tick(5000);
      equal(swept.length, 2);
    } finally {
      mock.timers.reset();
    }
  });

  it('checks every minute which of the counted clients it can forget', async () => {
    const sweep = mock.method(ClientBuckets.prototype, 'sweep');
    mock.timers.enable({ apis: ['setInterval'] });
    try {
      const { send } = await limited(byTenant);
      await send(withHeader('X-Tenant', 'a'));
      mock.timers.tick(60_000);
      equal((sweep.mock.calls[0]!.this as ClientBuckets).size, 1);
    } finally {
      mock.timers.reset();
      sweep.mock.restore();
    }
  });

  it('identifies clients by a path variable whose name is not a valid header name', async () => {
    const config = { client_max_rate: 1, every: '10m', strategy: 'param', key: 'größe' };
    const { send } = await limited(config, { endpoint: { endpoint: '/c/{größe}' } });
    const one = { params: { Größe: '1' } };
    deepEqual(await send(one, one, { params: { Größe: '2' } }), [200, 429, 200]);
  });

  it('identifies clients by the match of a wildcard', async () => {
    const config = { client_max_rate: 1, every: '10m', strategy: 'param', key: 'wildcard' };
    const { send } = await limited(config, { endpoint: { endpoint: '/files/*' } });
    const one = { params: { Wildcard: '1' } };
    deepEqual(await send(one, one, { params: { Wildcard: '2' } }), [200, 429, 200]);
  });

  it('counts each endpoint separately', async () => {
    const gateway = await startGateway({
      endpoints: ['/a', '/b'].map((endpoint) => ({
        endpoint,
        backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
        extra_config: { [plugin.name]: { max_rate: 1, every: '10m' } },
      })),
    });
    try {
      const statuses = [];
      for (const path of ['/a', '/a', '/b']) statuses.push((await gateway.inject(path)).statusCode);
      deepEqual(statuses, [500, 503, 500]);
    } finally {
      await gateway.close();
    }
  });

  it('neither counts nor rejects CORS preflights', async () => {
    const gateway = await startGateway({
      endpoints: [
        {
          endpoint: '/a',
          backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
          extra_config: { 'security/cors': {}, [plugin.name]: byTenant },
        },
      ],
    });
    try {
      const headers = { origin: 'https://a.io', 'access-control-request-method': 'GET' };
      for (let requested = 0; requested < 3; requested++) {
        equal((await gateway.inject({ method: 'OPTIONS', url: '/a', headers })).statusCode, 204);
      }
    } finally {
      await gateway.close();
    }
  });

  it('accepts the strategy in any letter case', async () => {
    const { send } = await limited({ client_max_rate: 1, every: '10m', strategy: 'IP' });
    deepEqual(await send(call, call), [200, 429]);
  });

  for (const [what, config] of Object.entries({
    'a malformed interval': { max_rate: 1, every: 'soon' },
    'a negative rate': { max_rate: -1 },
    'a fraction as capacity': { max_rate: 1, capacity: 1.5 },
    'an unknown field': { max_rate: 1, burst: 1 },
    'a value that is not an object': [1],
  })) {
    it(`rejects ${what}`, async () => {
      await rejects(limited(config), { code: 'CONFIG_INVALID' });
    });
  }

  it('releases all its resources', async () => {
    const { gate, send } = await limited({ ...byTenant, max_rate: 1 });
    await send(withHeader('X-Tenant', 'a'));
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });
});
