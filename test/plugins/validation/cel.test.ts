import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { Gateway } from '../../../kernel/index.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { forge, makeKeyFiles } from '../auth/fixture.ts';

const rules = (...expressions: (string | object)[]) => ({
  'validation/cel': expressions.map((rule) => (typeof rule === 'string' ? { check_expr: rule } : rule)),
});

describe('validation/cel in a gateway', () => {
  let backend: TestBackend;
  let gateway: Gateway;

  before(async () => {
    backend = await startBackend((seen, response) => {
      const [, status] = /^\/status\/(\d+)/.exec(seen.target) ?? [];
      if (status !== undefined) response.writeHead(Number(status), { 'X-Kind': 'raw' }).end();
      else if (seen.target.startsWith('/list')) json([1, 2, 3])(seen, response);
      else json({ name: 'Ada', age: 36, target: seen.target })(seen, response);
    });
  });
  after(() => backend.close());
  afterEach(() => gateway.close());

  const start = async (endpoint: object, root: object = {}, options = {}) => {
    gateway = await startGateway({ host: [backend.url], endpoints: [endpoint].flat(), ...root }, options);
  };
  const to = (path: string, more: object = {}) => ({ endpoint: path, backend: [{ url_pattern: '/b' }], ...more });
  const ask = async (url: string, options: object = {}) => {
    const { statusCode, body, headers } = await gateway.inject({ url, ...options });
    return { status: statusCode, body, completed: headers['x-gateway-completed'], type: headers['content-type'] };
  };
  const statusOf = async (url: string, headers: object = {}) => (await ask(url, { headers })).status;
  const reported = { extra_config: { router: { return_error_msg: true } } };

  it('rejects requests for which a condition is false', async () => {
    await start(to('/n/{id}', { extra_config: rules('int(req_params.Id) % 2 == 0') }));
    const before = backend.requests.length;
    deepEqual(await ask('/n/5'), { status: 500, body: '', completed: 'false', type: undefined });
    equal(backend.requests.length, before);
    equal(await statusOf('/n/4'), 200);
  });

  it('rejects requests for which a condition fails to evaluate', async () => {
    await start(to('/n/{id}', { extra_config: rules('int(req_params.Id) % 2 == 0') }));
    equal(await statusOf('/n/x'), 500);
  });

  it('names the failed condition if return_error_msg is set', async () => {
    await start(to('/n/{id}', { extra_config: rules('int(req_params.Id) % 2 == 0') }), reported);
    deepEqual(await ask('/n/5'), {
      status: 500,
      body: 'request aborted by evaluator #0',
      completed: 'false',
      type: 'text/plain; charset=utf-8',
    });
  });

  it('numbers conditions separately for request and response, and stops at the first one that is false', async () => {
    const extra_config = rules("resp_data.name == 'Ada'", "req_method == 'GET'", "req_path == '/b'", 'now == "x"');
    await start(to('/a', { extra_config }), reported);
    equal((await ask('/a')).body, 'request aborted by evaluator #1');
  });

  it('fails one of several backends', async () => {
    const section = (group: string, by: number) => ({
      url_pattern: '/b',
      group,
      extra_config: rules(`int(req_params.Id) % ${by} == 0`),
    });
    await start({ endpoint: '/n/{id}', backend: [section('a', 3), section('b', 5)] });
    const { status, body, completed } = await ask('/n/10');
    deepEqual([status, Object.keys(JSON.parse(body)), completed], [200, ['b'], 'false']);
  });

  it('fails the only backend, and stops a sequence of backends', async () => {
    const backends = [
      { url_pattern: '/b', extra_config: rules('false') },
      { url_pattern: '/b2', group: 'two' },
    ];
    await start([
      to('/one', { backend: backends.slice(0, 1) }),
      to('/chain', { backend: backends, extra_config: { proxy: { sequential: true } } }),
    ]);
    const before = backend.requests.length;
    deepEqual([await statusOf('/one'), await statusOf('/chain')], [500, 500]);
    equal(backend.requests.length, before);
  });

  const oneHeader = rules("'a' in req_headers['X-T']");

  it('lets expressions read forwarded headers under their canonical names', async () => {
    await start(to('/a', { input_headers: ['X-T'], extra_config: oneHeader }));
    deepEqual([await statusOf('/a'), await statusOf('/a', { 'x-t': 'a' })], [500, 200]);
    deepEqual([await statusOf('/a', { 'x-t': ['b', 'a'] }), await statusOf('/a', { 'x-t': 'b' })], [200, 500]);
  });

  it('does not provide headers that are not forwarded', async () => {
    await start(to('/a', { extra_config: oneHeader }));
    equal(await statusOf('/a', { 'X-T': 'a' }), 500);
  });

  it('lets expressions read forwarded query parameters under their original names', async () => {
    const extra_config = rules("has(req_querystring.q) && 'x' in req_querystring.q && !has(req_querystring.Other)");
    await start(to('/a', { input_query_strings: ['q'], extra_config }));
    deepEqual([await statusOf('/a?q=y&q=x&Other=1'), await statusOf('/a?q=y'), await statusOf('/a')], [200, 500, 500]);
  });

  it('lets expressions read the response of a backend after its response manipulation', async () => {
    const of = (field: string) => ({ url_pattern: '/b', group: 'g', extra_config: rules(`'${field}' in resp_data.g`) });
    await start([to('/has', { backend: [of('name')] }), to('/lacks', { backend: [of('surname')] })]);
    deepEqual([await statusOf('/has'), await statusOf('/lacks')], [200, 500]);
  });

  it('lets expressions read the claims of tokens', async () => {
    const files = makeKeyFiles();
    const secret = Buffer.alloc(32, 7);
    const k = secret.toString('base64url');
    const path = files.write({ keys: [{ kty: 'oct', kid: 'one', alg: 'HS256', k }] });
    const validator = { alg: 'HS256', jwk_local_path: path, disable_jwk_security: true };
    const protectedBy = (...conditions: string[]) => ({ 'auth/validator': validator, ...rules(...conditions) });
    await start(
      [
        to('/a', { extra_config: protectedBy('has(JWT.lvl) && JWT.lvl > 2') }),
        to('/own/{id}', {
          extra_config: protectedBy('JWT.sub == req_params.Id', "resp_data.name == 'Ada' && JWT.lvl > 0"),
        }),
      ],
      reported,
    );
    const bearer = (claims: object) => ({
      authorization: `Bearer ${forge({ alg: 'HS256', kid: 'one' }, claims, secret)}`,
    });
    deepEqual(
      [
        await statusOf('/a', bearer({ lvl: 1 })),
        await statusOf('/a', bearer({ lvl: 5 })),
        await statusOf('/a', bearer({})),
      ],
      [401, 200, 401],
    );
    deepEqual(await ask('/a', { headers: bearer({ lvl: 'x' }) }).then(({ status, body }) => [status, body]), [401, '']);
    const own = { sub: '7', lvl: 1 };
    deepEqual([await statusOf('/own/7', bearer(own)), await statusOf('/own/8', bearer(own))], [200, 500]);
    equal(await statusOf('/own/7', bearer({ sub: '7', lvl: 0 })), 500);
    files.remove();
  });

  it('checks the claims of every token at the root', async () => {
    const files = makeKeyFiles();
    const secret = Buffer.alloc(32, 7);
    const path = files.write({ keys: [{ kty: 'oct', kid: 'one', alg: 'HS256', k: secret.toString('base64url') }] });
    const validator = { alg: 'HS256', jwk_local_path: path, disable_jwk_security: true };
    await start([to('/a', { extra_config: { 'auth/validator': validator } }), to('/open')], {
      extra_config: rules('JWT.lvl > 2'),
    });
    const bearer = (lvl: number) => ({
      authorization: `Bearer ${forge({ alg: 'HS256', kid: 'one' }, { lvl }, secret)}`,
    });
    deepEqual(
      [await statusOf('/a', bearer(1)), await statusOf('/a', bearer(5)), await statusOf('/open')],
      [401, 200, 200],
    );
    files.remove();
  });

  it('lets expressions read the status and headers of a no-op response', async () => {
    const extra_config = rules('resp_metadata_status < 500', "resp_metadata_headers['X-Kind'] == ['raw']");
    const raw = { output_encoding: 'no-op', extra_config };
    await start([
      to('/down', { backend: [{ url_pattern: '/status/503' }], ...raw }),
      to('/up', { backend: [{ url_pattern: '/status/404' }], ...raw }),
    ]);
    deepEqual([await statusOf('/down'), await statusOf('/up')], [500, 404]);
  });

  it('does not let expressions read the status and headers of a decoded response', async () => {
    await start(to('/a', { extra_config: rules('resp_metadata_status == 0 && size(resp_metadata_headers) == 0') }));
    equal(await statusOf('/a'), 200);
  });

  it('evaluates a condition that uses no variables, or only the time, before backends are called', async () => {
    await start([
      to('/a', { extra_config: rules("timestamp(now) < timestamp('2020-01-01T00:00:00Z')") }),
      to('/b', { extra_config: rules('1 > 2') }),
      to('/c', { extra_config: rules("'resp_data, req_ and JWT' == ''") }),
    ]);
    const before = backend.requests.length;
    for (const path of ['/a', '/b', '/c']) equal(await statusOf(path), 500);
    equal(backend.requests.length, before);
  });

  it('lets a response condition read the original request', async () => {
    const section = { url_pattern: '/b', method: 'POST', input_headers: [''] };
    const extra_config = rules("req_method == 'GET' && 'a' in req_headers['X-T'] && resp_completed");
    await start(to('/a', { input_headers: ['X-T'], extra_config, backend: [section] }));
    equal(await statusOf('/a', { 'x-t': 'a' }), 200);
  });

  it("lets expressions read the backend's request", async () => {
    const own = { url_pattern: '/b/{id}?own=1', method: 'POST' };
    const seen = (path: string) => ({ ...own, extra_config: rules(`req_method == 'POST' && req_path == '${path}'`) });
    await start([
      to('/a/{id}', { backend: [seen('/b/7?own=1')] }),
      to('/q/{id}', { input_query_strings: ['q'], backend: [seen('/b/7')] }),
      to('/base/{id}', { backend: [{ ...seen('/b/7?own=1'), host: [`${backend.url}/base/`] }] }),
    ]);
    deepEqual([await statusOf('/a/7'), await statusOf('/q/7?q=1'), await statusOf('/base/7')], [200, 200, 200]);
  });

  it("lets expressions read the client's path, decoded and without its query", async () => {
    await start(to('/a/{id}', { input_query_strings: ['q'], extra_config: rules("req_path == '/a/ö x'") }));
    equal(await statusOf('/a/%C3%B6%20x?q=1'), 200);
  });

  it('lets expressions read values of earlier backends in a sequence', async () => {
    const second = {
      url_pattern: '/b2/{resp0_name}',
      group: 'two',
      extra_config: rules("req_params['Resp0_name'] == 'Ada'"),
    };
    await start(to('/a', { backend: [{ url_pattern: '/b' }, second], extra_config: { proxy: { sequential: true } } }));
    deepEqual((await ask('/a')).completed, 'true');
  });

  it('lets expressions read collections as lists and numbers with their types', async () => {
    const section = { url_pattern: '/list', is_collection: true };
    const extra_config = rules(
      'resp_data.collection.map(x, x * 2) == [2, 4, 6] && type(resp_data.collection[0]) == int',
    );
    await start(to('/a', { backend: [section], extra_config }));
    equal(await statusOf('/a'), 200);
  });

  it('checks incomplete responses, but not failures', async () => {
    const bad = { url_pattern: '/status/500', group: 'bad' };
    const sinks = rememberingSinks();
    await start(
      [
        to('/partial', { backend: [{ url_pattern: '/b' }, bad], extra_config: rules('resp_completed') }),
        to('/failed', { backend: [bad], extra_config: rules('resp_completed') }),
      ],
      {},
      { sinks },
    );
    equal(await statusOf('/partial'), 500);
    const seen = sinks.lines.length;
    equal(await statusOf('/failed'), 500);
    ok(!sinks.lines.slice(seen).some((line) => line.includes('[CEL]')));
  });

  it('drops a backend response whose condition is false', async () => {
    const section = { url_pattern: '/b', group: 'a', extra_config: rules('resp_data.a.age > 40') };
    await start(to('/a', { backend: [section, { url_pattern: '/b', group: 'b' }] }));
    const { status, body, completed } = await ask('/a');
    deepEqual([status, Object.keys(JSON.parse(body)), completed], [200, ['b'], 'false']);
  });

  it('returns the configured error', async () => {
    const error = { status: 403, body: '{"why":"young"}', content_type: 'application/json' };
    const extra_config = rules({ check_expr: 'resp_data.age > 40', error });
    await start(to('/a', { extra_config }), reported);
    deepEqual(await ask('/a'), { status: 403, body: error.body, completed: 'false', type: 'application/json' });
  });

  it('applies to every endpoint at the root', async () => {
    const root = {
      extra_config: rules(
        "req_method == 'GET'",
        'resp_metadata_status < 500',
        "'name' in resp_data || !resp_completed",
      ),
    };
    await start(
      [
        to('/a'),
        to('/a', { method: 'DELETE' }),
        to('/raw', { output_encoding: 'no-op', backend: [{ url_pattern: '/status/503' }] }),
      ],
      root,
    );
    deepEqual(
      [await statusOf('/a'), (await ask('/a', { method: 'DELETE' })).status, await statusOf('/raw')],
      [200, 500, 500],
    );
  });

  it('runs before body validation and before components that call backends', async () => {
    const schema = { type: 'object', required: ['name'] };
    const extra_config = {
      'validation/json-schema': schema,
      ...rules({ check_expr: 'false', error: { status: 418 } }),
    };
    await start(to('/a', { method: 'POST', extra_config }));
    equal((await ask('/a', { method: 'POST', payload: {} })).status, 418);
  });

  it('logs the result of each condition', async () => {
    const sinks = rememberingSinks();
    const extra_config = rules(
      "req_method == 'GET'",
      'req_params.Id == "4"',
      'int(req_params.Id) > 0',
      'resp_data.age == 36',
    );
    await start(
      to('/n/{id}', { extra_config }),
      { extra_config: { 'telemetry/logging': { level: 'DEBUG', stdout: true } } },
      { sinks },
    );
    for (const path of ['/n/4', '/n/5', '/n/x']) await ask(path);
    const said = sinks.lines
      .filter((line) => line.includes('[CEL]'))
      .map((line) => /(INFO|DEBUG).*/.exec(line)![0].trim());
    ok(said.some((line) => /^DEBUG.*\[ENDPOINT: \/n\/\{id\}\]\[CEL\]\[pre\] Evaluator #0 result: true/.test(line)));
    ok(said.some((line) => /^INFO.*\[ENDPOINT: \/n\/\{id\}\]\[CEL\]\[pre\] Evaluator #1 result: false/.test(line)));
    ok(said.some((line) => /^DEBUG.*\[CEL\]\[post\] Evaluator #0 result: true/.test(line)));
    match(said.join('\n'), /result/);
  });

  it('logs the reason of a failed condition', async () => {
    const sinks = rememberingSinks();
    await start(to('/n/{id}', { extra_config: rules('int(req_params.Id) > 0') }), {}, { sinks });
    await ask('/n/x');
    ok(sinks.lines.some((line) => line.includes("[CEL][pre] Evaluator #0 failed: 'x' is not an integer")));
  });

  it('does not block the event loop for an expensive condition', async () => {
    const loops = "req_querystring.q.all(a, req_querystring.q.all(b, req_querystring.q.all(c, a + b + c != '')))";
    await start(to('/a', { input_query_strings: ['q'], extra_config: rules(loops) }));
    const query = Array.from({ length: 300 }, (_, at) => `q=${at}`).join('&');
    equal(await statusOf(`/a?${query}`), 500);
    equal(await statusOf('/a?q=1&q=2'), 200);
  });
});
