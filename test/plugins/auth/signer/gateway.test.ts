import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { atService, definePlugin } from '#contract';
import type { Operations } from '#kernel';
import {
  json,
  rememberingSinks,
  type SeenRequest,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../../support/gateway.ts';
import { startWith } from '../../../support/plugged.ts';
import { issue, makeKeyFiles, makeSigner, type Signer } from '../fixture.ts';

describe('a gateway with auth/signer', () => {
  const files = makeKeyFiles();
  let signer: Signer;
  let path: string;
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let received: (seen: SeenRequest, response: Parameters<Parameters<typeof startBackend>[0]>[1]) => void;

  before(async () => {
    signer = await makeSigner('HS256', 'k1');
    path = files.write({ keys: [signer.jwk] });
    backend = await startBackend((seen, response) => received(seen, response));
  });
  after(async () => {
    await backend.close();
    files.remove();
  });
  beforeEach(() => {
    received = json({ access_token: { sub: 'ada' }, user: 'ada' });
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const keys = () => ({ alg: 'HS256', jwk_local_path: path });
  const signing = () => ({ 'auth/signer': { ...keys(), kid: 'k1', keys_to_sign: ['access_token'] } });
  const endpoint = (more: object = {}, extra: object = {}) => ({
    endpoint: '/token',
    method: 'POST',
    extra_config: { ...signing(), ...extra },
    backend: [{ host: [backend.url], url_pattern: '/login', method: 'POST' }],
    ...more,
  });
  const serve = async (endpoints: readonly object[], root: object = {}, sinks = rememberingSinks()) => {
    gateway = await startGateway({ endpoints, ...root }, { sinks });
    return gateway;
  };
  const login = (headers: Record<string, string> = {}) =>
    gateway!.inject({ method: 'POST', url: '/token', payload: '{"name":"ada"}', headers });

  it('issues tokens that auth/validator accepts', async () => {
    await serve([
      endpoint(),
      {
        endpoint: '/me',
        extra_config: { 'auth/validator': keys() },
        backend: [{ host: [backend.url], url_pattern: '/{JWT.sub}' }],
      },
    ]);
    const { access_token: token } = (await login()).json();
    equal((await gateway!.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } })).statusCode, 200);
    equal(backend.requests.at(-1)!.target, '/ada');
  });

  it("validates the client's token before it signs the backend's response", async () => {
    await serve([endpoint({}, { 'auth/validator': keys() })]);
    const seen = backend.requests.length;
    equal((await login()).statusCode, 401);
    equal(backend.requests.length, seen);
    const renewed = await login({ authorization: `Bearer ${await issue(signer, { sub: 'ada' })}` });
    equal(renewed.json().access_token.split('.').length, 3);
  });

  it('keeps its key if a configuration is rejected because the key server no longer offers the key', async () => {
    const failing = definePlugin({
      name: 'test/failing',
      description: 'Is never ready.',
      places: [
        atService({ type: 'object', properties: {} } as const, (site) => {
          site.warm(() => Promise.reject(new Error('not ready')));
          return {};
        }),
      ],
    });
    let keySet: object = { keys: [signer.jwk] };
    received = (seen, response) =>
      (seen.target === '/keys' ? json(keySet) : json({ access_token: { sub: 'ada' } }))(seen, response);
    const ofServer = {
      alg: 'HS256',
      kid: 'k1',
      keys_to_sign: ['access_token'],
      jwk_url: `${backend.url}/keys`,
      disable_jwk_security: true,
    };
    const config = { endpoints: [endpoint({}, { 'auth/signer': ofServer })] };
    gateway = await startWith([failing], config);
    equal((await login()).statusCode, 200);
    keySet = { keys: [{ ...signer.jwk, kid: 'k2' }] };
    const next = { version: 3, endpoints: [endpoint({}, { 'auth/signer': { ...ofServer, typ: 'at+jwt' } })] };
    const fetched = () => backend.requests.filter(({ target }) => target === '/keys').length;
    const before = fetched();
    await rejects(gateway.reload({ ...next, extra_config: { 'test/failing': {} } }));
    deepEqual([fetched() - before, (await login()).statusCode], [1, 200]);
    await gateway.reload(next);
    equal((await login()).statusCode, 401);
  });

  for (const [what, reply] of [
    ['rejects the login', json({ error: 'wrong password' }, 401)],
    ['responds with invalid JSON', (_seen: SeenRequest, response) => response.writeHead(200).end('<html>')],
    ['closes the connection', (_seen: SeenRequest, response) => response.destroy()],
    ['exceeds the timeout', () => {}],
  ] as readonly (readonly [string, typeof received])[]) {
    it(`returns 400 without a body for a backend that ${what}, even if return_error_msg is set`, async () => {
      received = reply;
      await serve([endpoint(what === 'exceeds the timeout' ? { timeout: '200ms' } : {})], {
        extra_config: { router: { return_error_msg: true } },
      });
      const { statusCode, body, headers } = await login();
      deepEqual(
        [statusCode, body, headers['content-type'], headers['x-gateway-completed'], headers['cache-control']],
        [400, '', undefined, undefined, undefined],
      );
      ok(headers['x-gateway']);
    });
  }

  it('does not sign a merged response if a backend has not responded', async () => {
    received = (seen, response) =>
      seen.target === '/login' ? json({ access_token: { sub: 'ada' } })(seen, response) : json({}, 500)(seen, response);
    const host = [backend.url];
    await serve([
      endpoint({
        backend: [
          { host, url_pattern: '/login' },
          { host, url_pattern: '/gone' },
        ],
      }),
    ]);
    const { statusCode, body } = await login();
    deepEqual([statusCode, body], [400, '']);
  });

  it('signs the merged response of several backends', async () => {
    const host = [backend.url];
    await serve([
      endpoint({
        backend: [
          { host, url_pattern: '/a' },
          { host, url_pattern: '/b', group: 'more' },
        ],
      }),
    ]);
    const response = (await login()).json();
    deepEqual([typeof response.access_token, response.more.user], ['string', 'ada']);
  });

  it("returns JSON with Cache-Control: no-store regardless of the endpoint's settings, and no completion header", async () => {
    await serve([endpoint({ output_encoding: 'xml', cache_ttl: '60s' })]);
    const { headers, body, statusCode } = await login();
    equal(statusCode, 200);
    equal(headers['content-type'], 'application/json; charset=utf-8');
    equal(headers['cache-control'], 'no-store');
    equal(headers['x-gateway-completed'], undefined);
    ok(headers['x-gateway']);
    equal(JSON.parse(body).user, 'ada');
  });

  it('keeps the rate limits of the endpoint and their error responses', async () => {
    await serve([endpoint({}, { 'qos/ratelimit/router': { max_rate: 1, capacity: 1, every: '10m' } })]);
    equal((await login()).statusCode, 200);
    const { statusCode, headers } = await login();
    equal(statusCode, 503);
    ok(Number(headers['retry-after']) > 500);
  });

  it('rejects an endpoint with the no-op encoding', async () => {
    await serve([endpoint({ output_encoding: 'no-op', backend: [{ host: [backend.url], url_pattern: '/' }] })]).then(
      () => ok(false),
      (error) => ok(/auth\/signer/.test(error.message), error.message),
    );
  });

  it('logs neither tokens nor keys nor claims', async () => {
    const sinks = rememberingSinks();
    await serve([endpoint()], {}, sinks);
    const { access_token: token } = (await login()).json();
    received = json({ access_token: { sub: 'ada' } }, 500);
    await login();
    const text = sinks.lines.join('\n');
    ok(text.includes('[ENDPOINT: /token][JWTSigner] Proxy response: '), text);
    for (const section of [...token.split('.'), signer.jwk.k!]) equal(text.includes(section), false);
  });
});
