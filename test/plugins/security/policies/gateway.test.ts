import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { forge, makeKeyFiles } from '../../auth/fixture.ts';

describe('security/policies in a gateway', () => {
  let backend: TestBackend;
  let gateway: Operations;
  const files = makeKeyFiles();
  const secret = Buffer.alloc(32, 7);

  before(async () => {
    backend = await startBackend((seen, response) => {
      if (seen.target === '/raw') response.writeHead(201, { 'X-Kind': 'raw' }).end('bytes');
      else if (seen.target === '/down') response.writeHead(500).end();
      else json({ label: 'X', n: 36, target: seen.target, body: String(seen.body) })(seen, response);
    });
  });
  after(async () => {
    files.remove();
    await backend.close();
  });
  afterEach(() => gateway.close());

  const start = async (endpoints: object | object[], root: object = {}, options = {}) => {
    gateway = await startGateway({ host: [backend.url], endpoints: [endpoints].flat(), ...root }, options);
  };
  const to = (path: string, policies: object, more: object = {}) => ({
    endpoint: path,
    backend: [{ url_pattern: '/b' }],
    extra_config: { 'security/policies': policies },
    ...more,
  });
  const ask = async (url: string, options: object = {}) => {
    const { statusCode, body, headers } = await gateway.inject({ url, ...options });
    return { status: statusCode, body, completed: headers['x-gateway-completed'], type: headers['content-type'] };
  };
  const statusOf = async (url: string, headers: object = {}) => (await ask(url, { headers })).status;
  const reported = { extra_config: { router: { return_error_msg: true } } };
  const validator = () => ({
    alg: 'HS256',
    jwk_local_path: files.write({
      keys: [{ kty: 'oct', kid: 'one', alg: 'HS256', k: secret.toString('base64url') }],
    }),
    disable_jwk_security: true,
  });
  const bearer = (claims: object) => ({
    authorization: `Bearer ${forge({ alg: 'HS256', kid: 'one' }, claims, secret)}`,
  });
  const guarded = (policies: object) => ({ 'auth/validator': validator(), 'security/policies': policies });

  it('accepts a request by a cookie that is not forwarded', async () => {
    await start(to('/a', { req: { policies: ["getCookie('GDPR') == 'yes'"], error: { status: 403 } } }));
    deepEqual([await statusOf('/a', { cookie: 'GDPR=yes' }), await statusOf('/a')], [200, 403]);
  });

  it('rejects requests with 500 and an empty body by default, without calling a backend', async () => {
    await start(to('/a', { req: { policies: ["hasHeader('X-Tenant')"] } }, { input_headers: ['X-Tenant'] }));
    const requested = backend.requests.length;
    deepEqual(await ask('/a'), { status: 500, body: '', completed: 'false', type: undefined });
    equal(backend.requests.length, requested);
    equal(await statusOf('/a', { 'x-tenant': 'shop' }), 200);
  });

  it('returns the configured body if return_error_msg is set', async () => {
    const error = { body: '{"e":1}', content_type: 'application/json' };
    await start(to('/a', { req: { policies: ["hasHeader('X-Tenant')"], error } }), reported);
    deepEqual(await ask('/a'), { status: 500, body: '{"e":1}', completed: 'false', type: 'application/json' });
  });

  it('returns the failed policy and the reason if return_error_msg is set and no body is configured', async () => {
    await start(
      [
        to('/a', { req: { policies: ['true', '1 > 2'] } }),
        to('/b/{id}', { req: { policies: ['int(req_params.Id) > 1'], error: { body: '' } } }),
      ],
      reported,
    );
    deepEqual(await ask('/a'), { status: 500, body: 'policy #1 failed', completed: 'false', type: 'text/plain' });
    equal((await ask('/b/x')).body, "policy #0 failed ('x' is not an integer)");
  });

  it('rejects tokens with a different or missing claim', async () => {
    const policies = { jwt: { policies: ["JWT.role in ['admin','root']"] } };
    await start(to('/a', {}, { extra_config: guarded(policies) }), reported);
    deepEqual(
      [
        await statusOf('/a', bearer({ role: 'root' })),
        await statusOf('/a', bearer({ role: 'user' })),
        await statusOf('/a', bearer({})),
      ],
      [200, 401, 401],
    );
    equal((await ask('/a', { headers: bearer({}) })).body, '');
  });

  it('rejects a token whose policy has no configured error', async () => {
    const sinks = rememberingSinks();
    const policies = { jwt: { policies: ["has(JWT.dep) && JWT.dep == 'IT'"] } };
    await start(to('/a', {}, { extra_config: guarded(policies) }), {}, { sinks });
    equal(await statusOf('/a', bearer({})), 401);
    const [line] = sinks.lines.filter((each) => each.includes('[Policies]'));
    ok(line?.trimEnd().endsWith("[Policies] policy #0 failed: has(JWT.dep) && JWT.dep == 'IT'"), line);
  });

  it('drops backend data if a policy on the response fails', async () => {
    const resp = { policies: ["resp_data.label == 'BENIGN'"], error: { status: 403 } };
    await start([to('/a', { resp }), to('/ok', { resp: { policies: ["resp_data.label == 'X'"] } })]);
    const requested = backend.requests.length;
    deepEqual(await ask('/a'), { status: 403, body: '', completed: 'false', type: undefined });
    equal(backend.requests.length, requested + 1);
    equal(await statusOf('/ok'), 200);
  });

  it('lets policies read path parameters, with the first letter capitalized', async () => {
    await start(to('/u/{id}', { req: { policies: ["req_params.Id.matches('^[0-9]+$')"] } }));
    deepEqual([await statusOf('/u/12'), await statusOf('/u/a')], [200, 500]);
  });

  it('lets policies read the current time', async () => {
    const late = { policies: ["timestamp(now) > timestamp('2999-01-01T00:00:00Z')"], error: { status: 404 } };
    await start([to('/a', { req: late }), to('/b', { req: { policies: ["now.matches('T.*\\\\.[0-9]{3}Z$')"] } })]);
    deepEqual([await statusOf('/a'), await statusOf('/b')], [404, 200]);
  });

  it('fails one of several backends by a policy on its response', async () => {
    const policies = { resp: { policies: ["resp_data.a.label == 'BENIGN'"], error: { status: 403 } } };
    const guardedBackend = { url_pattern: '/b', group: 'a', extra_config: { 'security/policies': policies } };
    await start({ endpoint: '/two', backend: [guardedBackend, { url_pattern: '/b', group: 'b' }] });
    const { status, body, completed } = await ask('/two');
    deepEqual([status, Object.keys(JSON.parse(body)), completed], [200, ['b'], 'false']);
  });

  it('skips a backend whose request policy fails, and returns its status if it is the only one', async () => {
    const policies = { req: { policies: ["req_path == '/b'", 'false'], error: { status: 418 } } };
    const only = { url_pattern: '/b', extra_config: { 'security/policies': policies } };
    await start([
      { endpoint: '/one', backend: [only] },
      { endpoint: '/none', backend: [only, { url_pattern: '/down' }] },
    ]);
    const requested = backend.requests.length;
    equal(await statusOf('/one'), 418);
    equal(backend.requests.length, requested);
    equal(await statusOf('/none'), 500);
  });

  it('names the joined expression in the error if policies are joined', async () => {
    const sinks = rememberingSinks();
    const req = { policies: ['1 < 2', '2 < 1'], error: { status: 409 } };
    await start([to('/a', { req, auto_join_policies: true }), to('/b', { req })], {}, { sinks });
    deepEqual([await statusOf('/a'), await statusOf('/b')], [409, 409]);
    const said = sinks.lines.filter((line) => line.includes('failed:')).map((line) => line.trimEnd());
    ok(said[0]!.endsWith('[ENDPOINT: /a][Policies] policy #0 failed: (1 < 2) && (2 < 1)'), said[0]);
    ok(said[1]!.endsWith('[ENDPOINT: /b][Policies] policy #1 failed: 2 < 1'), said[1]);
  });

  it('rejects the request on errors: a missing key, a division by zero or excessive work', async () => {
    const loops = "req_querystring.q.all(a, req_querystring.q.all(b, req_querystring.q.all(c, a + b + c != '')))";
    const sources = ["req_headers['X-None'][0] == 'a'", '1 / int(req_params.Id) > 0', loops];
    await start(
      sources.map((source, at) => to(`/${at}/{id}`, { req: { policies: [source] } }, { input_query_strings: ['q'] })),
    );
    const query = Array.from({ length: 300 }, (_, at) => `q=${at}`).join('&');
    deepEqual([await statusOf('/0/0'), await statusOf('/1/0'), await statusOf(`/2/0?${query}`)], [500, 500, 500]);
    deepEqual([await statusOf('/1/1'), await statusOf('/2/1?q=1')], [200, 200]);
  });

  it('compares numbers in data with integers and decimals', async () => {
    await start(to('/a', { resp: { policies: ['resp_data.n == 36', 'resp_data.n < 36.5', 'resp_data.n in [36.0]'] } }));
    equal(await statusOf('/a'), 200);
  });

  it('lets policies read forwarded headers, query parameters and the body', async () => {
    const policies = ["'a' in req_headers['X-T']", "req_querystring.q == ['1']", 'req_body.contains(\'"n":1\')'];
    const method = 'POST';
    await start([
      to('/in', { req: { policies } }, { method, input_headers: ['X-T'], input_query_strings: ['q'] }),
      to('/out', { req: { policies: ["!('X-T' in req_headers) && !has(req_querystring.q)"] } }, { method }),
    ]);
    const sent = { method, headers: { 'x-t': 'a' }, payload: { n: 1 } };
    const { status, body } = await ask('/in?q=1', sent);
    deepEqual([status, JSON.parse(body).body], [200, '{"n":1}']);
    equal((await ask('/in?q=1', { ...sent, payload: {} })).status, 500);
    equal((await ask('/out?q=1', sent)).status, 200);
  });

  it('lets policies read an absent body as an empty text', async () => {
    await start(to('/a', { req: { policies: ["req_body == ''"] } }));
    equal(await statusOf('/a'), 200);
  });

  it('lets request policies read claims, and response policies read the request', async () => {
    const policies = {
      req: { policies: ['JWT.sub == req_params.Id'] },
      resp: { policies: ["JWT.sub == '7' && req_method == 'GET' && getParam('id') == '7' && resp_completed"] },
    };
    await start(to('/own/{id}', {}, { extra_config: guarded(policies) }));
    deepEqual(
      [await statusOf('/own/7', bearer({ sub: '7' })), await statusOf('/own/8', bearer({ sub: '7' }))],
      [200, 500],
    );
  });

  it('checks whether the token is valid, then its policies, then its roles', async () => {
    const sinks = rememberingSinks();
    const extra_config = {
      'auth/validator': { ...validator(), roles: ['reader'], roles_key: 'roles' },
      'security/policies': { jwt: { policies: ["JWT.dep == 'IT'"] } },
    };
    await start(to('/a', {}, { extra_config }), {}, { sinks });
    deepEqual(
      [
        await statusOf('/a', bearer({ dep: 'HR' })),
        await statusOf('/a', bearer({ dep: 'IT' })),
        await statusOf('/a', bearer({ dep: 'IT', roles: ['reader'] })),
      ],
      [401, 403, 200],
    );
    const said = () => sinks.lines.filter((line) => line.includes('[Policies]')).length;
    const before = said();
    equal(await statusOf('/a', { authorization: 'Bearer a.b.c' }), 401);
    equal(said(), before);
  });

  it('checks the status and headers of a no-op response', async () => {
    const raw = { output_encoding: 'no-op', backend: [{ url_pattern: '/raw' }] };
    const policies = ['resp_metadata_status == 201', "resp_metadata_headers['X-Kind'] == ['raw']"];
    await start([to('/a', { resp: { policies } }, raw), to('/b', { resp: { policies: ['false'] } }, raw)]);
    deepEqual(await ask('/a').then(({ status, body }) => [status, body]), [201, 'bytes']);
    deepEqual(await ask('/b').then(({ status, body }) => [status, body]), [500, '']);
  });

  it('does not check failed responses', async () => {
    const sinks = rememberingSinks();
    await start(
      to('/a', { resp: { policies: ['false'], error: { status: 403 } } }, { backend: [{ url_pattern: '/down' }] }),
      {},
      { sinks },
    );
    equal(await statusOf('/a'), 500);
    ok(!sinks.lines.some((line) => line.includes('[Policies]')));
  });

  it('modifies neither the request nor the response', async () => {
    const req = { policies: ["req_headers['X-T'].map(x, x + '!').size() == 1"] };
    const resp = { policies: ['resp_data.map(k, k).size() > 0'] };
    await start(to('/a', { req, resp }, { input_headers: ['X-T'] }));
    const plain = JSON.parse((await ask('/a', { headers: { 'x-t': 'a' } })).body);
    deepEqual(plain, { label: 'X', n: 36, target: '/b', body: '' });
    equal(backend.requests.at(-1)!.headers['x-t'], 'a');
  });

  it('logs the inputs and results of policies with "debug", without cookies and credentials', async () => {
    const sinks = rememberingSinks();
    const policies = ["req_headers['X-T'] == ['a'] && size(req_headers) > 0", 'req_params.Id == "7"'];
    const input_headers = ['X-T', 'Cookie', 'Authorization'];
    await start(to('/a/{id}', { req: { policies }, debug: true }, { input_headers }), {}, { sinks });
    await statusOf('/a/7', { 'x-t': 'a', cookie: 'sid=secret', authorization: 'Bearer secret' });
    const said = sinks.lines.filter((line) => line.includes('[Policies]')).join('');
    ok(!said.includes('secret'), said);
    ok(said.includes('policy #0 reads {"req_headers":{') && said.includes('"X-T":["a"]'), said);
    ok(said.includes('"Cookie":"***"') && said.includes('"Authorization":"***"'), said);
    ok(said.includes('policy #1 passed: req_params.Id == "7"'), said);
  });

  it('runs after authentication and rate limits', async () => {
    const extra_config = {
      ...guarded({ req: { policies: ['false'], error: { status: 418 } } }),
      'qos/ratelimit/router': { max_rate: 1, capacity: 1 },
    };
    await start(to('/a', {}, { extra_config }));
    deepEqual(
      [await statusOf('/a'), await statusOf('/a', bearer({})), await statusOf('/a', bearer({}))],
      [401, 418, 503],
    );
  });
});
