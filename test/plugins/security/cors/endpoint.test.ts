import { deepEqual, equal, rejects } from 'node:assert/strict';
import type { Gateway } from '../../../../kernel/index.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { ask, config, preflight } from './fixture.ts';

describe('security/cors at an endpoint', () => {
  let backend: TestBackend;
  let gateway: Gateway;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(() => gateway.close());

  const endpoint = (path: string, method: string, cors?: object, more: object = {}) => ({
    endpoint: path,
    method,
    backend: [{ host: [backend.url], url_pattern: '/' }],
    ...(cors && { extra_config: { 'security/cors': cors } }),
    ...more,
  });
  const start = async (endpoints: object[], service?: object) => {
    gateway = await startGateway({ endpoints, ...(service && { extra_config: { 'security/cors': service } }) });
  };
  const from = (Origin: string) => ({ Origin });
  const allowed = async (method: string, url: string, headers: Record<string, string>) =>
    (await ask(gateway, method, url, headers)).cors['allow-origin'];

  it("replaces the root's policy", async () => {
    await start([endpoint('/a', 'GET', { allow_origins: ['https://p.io'] }), endpoint('/b', 'GET')], config);
    equal(await allowed('GET', '/a', from('https://q.io')), undefined);
    equal(await allowed('GET', '/b', from('https://q.io')), '*');
    deepEqual((await ask(gateway, 'GET', '/a', from('https://p.io'))).cors, { 'allow-origin': 'https://p.io' });
  });

  it("inherits no field of the root's policy", async () => {
    await start([endpoint('/a', 'GET', {})], {
      ...config,
      allow_methods: ['GET', 'PUT'],
      allow_origins: ['https://p.io'],
    });
    deepEqual((await ask(gateway, 'GET', '/a', from('https://q.io'))).cors, { 'allow-origin': '*' });
    deepEqual((await ask(gateway, 'OPTIONS', '/a', preflight('GET'))).cors, {
      'allow-origin': '*',
      'allow-methods': 'GET',
    });
  });

  it('is selected by the path and the method of a preflight', async () => {
    await start(
      [
        endpoint('/u/{id}', 'PUT', { allow_origins: ['https://p.io'], allow_methods: ['PUT'] }),
        endpoint('/u/{id}', 'GET'),
      ],
      config,
    );
    const asking = (method: string, Origin: string) =>
      allowed('OPTIONS', '/u/7', { ...from(Origin), 'Access-Control-Request-Method': method });
    equal(await asking('PUT', 'https://p.io'), 'https://p.io');
    equal(await asking('PUT', 'https://q.io'), undefined);
    equal(await asking('GET', 'https://q.io'), '*');
  });

  describe('without a policy at the root', () => {
    beforeEach(() => start([endpoint('/a', 'GET', { allow_origins: ['https://p.io'] }), endpoint('/b', 'GET')]));

    it('answers preflights itself', async () => {
      const headers = { ...from('https://p.io'), 'Access-Control-Request-Method': 'GET' };
      const { status, cors } = await ask(gateway, 'OPTIONS', '/a', headers);
      deepEqual([status, cors], [204, { 'allow-origin': 'https://p.io', 'allow-methods': 'GET' }]);
    });

    for (const [what, path, method, status] of [
      ['another endpoint', '/b', 'GET', 405],
      ['an unknown path', '/nope', 'GET', 404],
      ['a method that no endpoint declares', '/a', 'PUT', 405],
      ['an invalid method', '/a', '__proto__', 405],
    ] as const) {
      it(`leaves a preflight for ${what} to the router`, async () => {
        const response = await ask(gateway, 'OPTIONS', path, preflight(method));
        deepEqual([response.status, response.vary, response.cors], [status, undefined, {}]);
      });
    }

    it('does not affect the responses of other endpoints', async () => {
      const { status, vary, cors } = await ask(gateway, 'GET', '/b');
      deepEqual([status, vary, cors], [200, undefined, {}]);
    });
  });

  it("adds its headers to its endpoint's rejections", async () => {
    const limited = { 'qos/ratelimit/router': { max_rate: 1, every: '10m' }, 'security/cors': {} };
    await start([endpoint('/a', 'GET', {}, { extra_config: limited })]);
    await ask(gateway, 'GET', '/a');
    const { status, cors } = await ask(gateway, 'GET', '/a');
    deepEqual([status, cors], [503, { 'allow-origin': '*' }]);
  });

  it('is taken from the active configuration', async () => {
    const of = (origin: string) => [endpoint('/a', 'GET', { allow_origins: [origin] })];
    await start(of('https://p.io'));
    equal(await allowed('GET', '/a', from('https://q.io')), undefined);
    await gateway.reload({ version: 3, endpoints: of('https://q.io') });
    equal(await allowed('GET', '/a', from('https://q.io')), 'https://q.io');
    await rejects(gateway.reload({ version: 3, endpoints: of('https://**') }));
    equal(await allowed('GET', '/a', from('https://q.io')), 'https://q.io');
  });
});
