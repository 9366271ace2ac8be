import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { Operations } from '#kernel';
import { rememberingSinks, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';
import { refusalsOf } from '../support/modules.ts';

describe('workflow', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  const waiting: ServerResponse[] = [];
  const sinks = rememberingSinks();

  before(async () => {
    backend = await startBackend(({ target, method, body }, response) => {
      const path = target.split('?')[0]!;
      if (path.startsWith('/fail')) response.writeHead(503).end();
      else if (path === '/teapot') response.writeHead(418).end();
      else if (path === '/t') response.end('{"k":"v"}');
      else if (path === '/text') response.writeHead(200, { 'Content-Type': 'text/plain', 'X-Own': '1' }).end('plain');
      else if (path === '/never') return;
      else if (path === '/thrice') {
        waiting.push(response);
        if (waiting.length === 3) for (const each of waiting) each.end('{"calls":3}');
      } else if (method === 'POST') response.end(JSON.stringify({ posted: String(body) }));
      else response.end(JSON.stringify({ name: path.slice(1) }));
    });
  });
  after(() => backend.close());
  beforeEach(() => {
    sinks.lines.length = 0;
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const to = (url_pattern: string, fields: object = {}) => ({ url_pattern, ...fields });
  const group = (name: string) => ({ url_pattern: `/${name}`, group: name });
  const workflow = (inner: object, fields: object = {}) => {
    const { extra_config, ...more } = fields as { extra_config?: object };
    return {
      url_pattern: '/__workflow/w/{id}',
      extra_config: { workflow: { endpoint: '/w/{id}', ...inner }, ...extra_config },
      ...more,
    };
  };
  const config = (backends: object[], fields: object = {}, more: object = {}) => ({
    host: [backend.url],
    endpoints: [{ endpoint: '/a/{id}', backend: backends, ...fields }],
    ...more,
  });
  const start = async (...given: Parameters<typeof config>) => {
    gateway = await startGateway(config(...given), { sinks });
  };
  const get = async (url = '/a/7', options: object = {}) => {
    const { statusCode, headers, body } = await gateway!.inject({ url, ...options });
    const json = String(headers['content-type']).includes('json') ? JSON.parse(body) : body;
    return { status: statusCode, json, completed: headers['x-gateway-completed'], headers };
  };
  const requested = (path: string) => backend.requests.filter(({ target }) => target === path).length;
  const sequential = { extra_config: { proxy: { sequential: true } } };

  it("merges its backend responses into the endpoint's response", async () => {
    await start([
      to('/x', { mapping: { name: 'x' } }),
      workflow({ backend: [to('/y/{id}', { group: 'y' }), group('z')] }),
    ]);
    const { json, completed } = await get();
    deepEqual([json, completed], [{ x: 'x', y: { name: 'y/7' }, z: { name: 'z' } }, 'true']);
  });

  it('applies the response manipulation of its outer backend', async () => {
    const shape = { group: 'w', deny: ['z'] };
    await start([to('/x'), workflow({ backend: [to('/y/{id}', { group: 'y' }), group('z')] }, shape)]);
    deepEqual((await get()).json, { name: 'x', w: { y: { name: 'y/7' } } });
  });

  it('calls its backends in sequence, with access to earlier responses', async () => {
    await start([workflow({ backend: [to('/t'), to('/u/{resp0_k}', { group: 'u' })] })]);
    deepEqual((await get()).json, { k: 'v', u: { name: 'u/v' } });
  });

  it('calls its backends in parallel if configured', async () => {
    const extra_config = { proxy: { sequential: false } };
    await start([workflow({ backend: [to('/fail/p'), group('z')], extra_config })]);
    deepEqual((await get()).json, { z: { name: 'z' } });
    const refused = await refusalsOf(
      startGateway(config([workflow({ backend: [to('/t'), to('/u/{resp0_k}')], extra_config })])),
    );
    equal(refused[0]!.code, 'ROUTE_PLACEHOLDER');
  });

  it('stops at the first failed backend and returns an incomplete response', async () => {
    const before = requested('/after1');
    await start([to('/x'), workflow({ ...sequential, backend: [to('/fail/y'), to('/after1')] })]);
    const { status, json, completed } = await get();
    deepEqual([status, json, completed, requested('/after1')], [200, { name: 'x' }, 'false', before]);
  });

  it('returns the data that it has received before a failure', async () => {
    await start([workflow({ backend: [group('y'), to('/fail/z')] })]);
    const { status, json, completed } = await get();
    deepEqual([status, json, completed], [200, { y: { name: 'y' } }, 'false']);
  });

  it('continues after a failure with ignore_errors, without replacing the response', async () => {
    const backends = [to('/fail/y'), to('/z/{resp0_k}', { group: 'z' })];
    await start([to('/x'), workflow({ ...sequential, ignore_errors: true, backend: backends })]);
    const { json, completed } = await get();
    deepEqual([json, completed], [{ name: 'x', z: { name: 'z/' } }, 'false']);
  });

  for (const [name, backends, proxy] of [
    ['one backend', ['/fail/1'], undefined],
    ['several', ['/fail/1', '/fail/2'], undefined],
    ['several in parallel', ['/fail/1', '/fail/2'], { sequential: false }],
  ] as const) {
    it(`is empty and incomplete, but not failed, with ignore_errors if all backends fail: ${name}`, async () => {
      const extra_config = proxy ? { proxy } : {};
      await start([workflow({ ignore_errors: true, backend: backends.map((url) => to(url)), extra_config })]);
      const { status, json, completed } = await get();
      deepEqual([status, json, completed], [200, {}, 'false']);
    });
  }

  it('fails with its backends, and returns the status of a single backend with return_error_code', async () => {
    await start([
      workflow({ backend: [to('/fail/1'), to('/fail/2')], extra_config: { proxy: { sequential: false } } }),
    ]);
    equal((await get()).status, 500);
    await gateway!.close();
    await start([
      workflow({ backend: [to('/teapot', { extra_config: { 'backend/http': { return_error_code: true } } })] }),
    ]);
    equal((await get()).status, 418);
  });

  it("fails at its own timeout, before the endpoint's", async () => {
    await start([to('/x'), workflow({ timeout: '50ms', backend: [to('/never')] })], { timeout: '20s' });
    const { json, completed } = await get();
    deepEqual([json, completed], [{ name: 'x' }, 'false']);
  });

  it('can contain another workflow', async () => {
    const inner = workflow({ backend: [to('/deep/{id}')] }, { group: 'inner' });
    await start([workflow({ backend: [inner, group('z')] }, { group: 'outer' })]);
    deepEqual((await get()).json, { outer: { inner: { name: 'deep/7' }, z: { name: 'z' } } });
  });

  it('numbers its own responses from 0, and reads earlier responses of its endpoint through parameters of its path', async () => {
    const inner = {
      endpoint: '/w/{resp0_k}',
      backend: [to('/p/{resp0_k}', { mapping: { name: 'k' } }), to('/q/{resp0_k}', { group: 'q' })],
    };
    await start([to('/t'), workflow(inner, { url_pattern: '/__workflow/w/{resp0_k}' })], sequential);
    deepEqual((await get()).json, { k: 'p/v', q: { name: 'q/p/v' } });
  });

  it('can be skipped entirely by a component of its outer backend', async () => {
    const limited = { extra_config: { 'qos/ratelimit/proxy': { max_rate: 1, capacity: 1, every: '10m' } } };
    const before = requested('/counted');
    await start([to('/x'), workflow({ backend: [to('/counted'), group('z')] }, limited)]);
    equal((await get()).completed, 'true');
    const { json, completed } = await get();
    deepEqual([json, completed, requested('/counted')], [{ name: 'x' }, 'false', before + 1]);
  });

  it('runs the components of the workflow around its backends', async () => {
    const extra_config = {
      proxy: { static: { strategy: 'always', data: { added: 1 } } },
      'validation/cel': [{ check_expr: "req_params.Id == '7'" }],
    };
    await start([workflow({ backend: [group('y'), group('z')], extra_config })]);
    deepEqual((await get()).json, { y: { name: 'y' }, z: { name: 'z' }, added: 1 });
    equal((await get('/a/8')).status, 500);
  });

  it('runs root-level endpoint components only once, around its endpoint', async () => {
    const service = {
      'validation/cel': [{ check_expr: 'has(resp_data.w)' }],
      'telemetry/metrics': { endpoint_disabled: true },
    };
    await start([workflow({ backend: [group('y'), group('z')] }, { group: 'w' })], {}, { extra_config: service });
    equal((await get()).status, 200);
  });

  it('applies a JMESPath expression to its data', async () => {
    await start([
      workflow({ backend: [group('y'), group('z')], extra_config: { 'modifier/jmespath': { expr: '{n: y.name}' } } }),
    ]);
    deepEqual((await get()).json, { n: 'y' });
  });

  it('applies its own modifiers to its data and requests only', async () => {
    const extra_config = {
      'modifier/lua-proxy': { pre: "request.load():headers('X-Inner', '1')" },
      'modifier/request-body-generator': { template: btoa('{"id":"{{ .req_params.Id }}"}') },
      'plugin/req-resp-modifier': {
        name: ['content-replacer'],
        'content-replacer': { posted: { find: '7', replace: 'seven' } },
      },
      'modifier/response-body-generator': { template: btoa('{"made":{{ .resp_body.posted | toJson }}}') },
    };
    await start(
      [
        workflow({ backend: [to('/p', { method: 'POST' })], extra_config }, { group: 'w' }),
        to('/q', { method: 'POST' }),
      ],
      { method: 'POST' },
    );
    const before = backend.requests.length;
    const { json } = await get('/a/7', { method: 'POST', payload: '{"mine":1}' });
    deepEqual(json, { w: { made: '{"id":"seven"}' }, posted: '{"mine":1}' });
    const inner = backend.requests.slice(before).find(({ target }) => target === '/p')!;
    const outer = backend.requests.slice(before).find(({ target }) => target === '/q')!;
    deepEqual([inner.headers['x-inner'], outer.headers['x-inner']], ['1', undefined]);
  });

  it('forwards the request body', async () => {
    await start([workflow({ backend: [to('/p', { method: 'POST' }), to('/p', { method: 'POST', group: 'again' })] })], {
      method: 'POST',
    });
    const { json } = await get('/a/7', { method: 'POST', payload: '{"a":1}' });
    deepEqual(json, { posted: '{"a":1}', again: { posted: '{"a":1}' } });
  });

  it('calls each of its backends concurrently if configured', async () => {
    await start([workflow({ concurrent_calls: 3, backend: [to('/thrice')] })]);
    deepEqual((await get()).json, { calls: 3 });
  });

  describe('with the no-op encoding', () => {
    it('is decoded with the encoding of its outer backend', async () => {
      await start([workflow({ output_encoding: 'no-op', backend: [to('/text')] }, { encoding: 'string' }), to('/x')]);
      deepEqual((await get()).json, { content: 'plain', name: 'x' });
    });

    it('returns the response unchanged at a no-op endpoint', async () => {
      await start([workflow({ output_encoding: 'no-op', backend: [to('/text')] })], { output_encoding: 'no-op' });
      const { json, headers } = await get();
      deepEqual([json, headers['x-own']], ['plain', '1']);
    });

    it("returns the data in the workflow's encoding if only the endpoint has the no-op encoding", async () => {
      await start([workflow({ backend: [group('y'), group('z')] })], { output_encoding: 'no-op' });
      deepEqual((await get()).json, { y: { name: 'y' }, z: { name: 'z' } });
    });
  });

  it('is logged under its name', async () => {
    await start([
      workflow({ backend: [to('/t'), to('/u')], extra_config: { 'validation/cel': [{ check_expr: 'false' }] } }),
    ]);
    await get();
    ok(
      sinks.lines.some((line) => line.includes('[ENDPOINT: /__workflow/w/{id}]')),
      sinks.lines.join(''),
    );
  });

  it('does not let client values replace parameters that hold backend responses', async () => {
    await start(
      [
        to('/x'),
        workflow(
          { endpoint: '/w/{resp0_k}', backend: [to('/p/{resp0_k}', { group: 'p' })] },
          { url_pattern: '/__workflow' },
        ),
      ],
      {
        endpoint: '/a/{resp0_k}',
      },
    );
    deepEqual((await get('/a/b')).json, { name: 'x', p: { name: 'p/b' } });
    deepEqual((await get('/a/..;b')).json, { name: 'x' });
  });

  it('is not listed as an endpoint', async () => {
    await start([workflow({ backend: [to('/t')] })]);
    equal((await get('/__workflow/w/1')).status, 404);
    equal((await get('/w/1')).status, 404);
  });

  it('needs no host of its own', async () => {
    gateway = await startGateway({
      endpoints: [{ endpoint: '/a/{id}', backend: [workflow({ backend: [to('/t', { host: [backend.url] })] })] }],
    });
    deepEqual((await get()).json, { k: 'v' });
  });

  it('warns about its own hosts, which are never called', async () => {
    const outer = { ...workflow({ backend: [to('/t', { host: [backend.url] })] }), host: ['http://127.0.0.1:9'] };
    gateway = await startGateway({ host: [backend.url], endpoints: [{ endpoint: '/a/{id}', backend: [outer] }] });
    const told = gateway.status.warnings.map(({ code, message, related, hint }) => [code, message, related, hint]);
    deepEqual(told, [
      [
        'WORKFLOW_HOST',
        'host ["http://127.0.0.1:9"] has no effect: the workflow itself calls no server',
        ['/endpoints/0/backend/0/host'],
        'move "host" to the backends of the workflow, which otherwise use the hosts of the root',
      ],
    ]);
    deepEqual((await get()).json, { k: 'v' });
  });

  describe('is rejected', () => {
    const at = '/endpoints/0/backend/0/extra_config/workflow';
    const refused = async (inner: object) =>
      (await refusalsOf(startGateway(config([workflow(inner)])))).map(({ code, pointer }) => [code, pointer]);

    it('for a placeholder without a value', async () => {
      deepEqual(await refused({ backend: [to('/y/{other}')] }), [['ROUTE_PLACEHOLDER', `${at}/backend/0/url_pattern`]]);
    });

    it('for a backend without a host, because hosts are not inherited', async () => {
      const outer = { ...workflow({ backend: [{ url_pattern: '/t' }] }), host: [backend.url] };
      const [refusal] = await refusalsOf(startGateway({ ...config([outer]), host: [] }));
      deepEqual([refusal!.code, refusal!.pointer], ['BACKEND_HOST', `${at}/backend/0`]);
      equal(refusal!.hint, 'add "host" here or at the root: the surrounding backend\'s host does not apply');
    });

    it('for a component that has no effect in a workflow', async () => {
      const extra_config = { 'qos/ratelimit/router': { max_rate: 1 } };
      deepEqual(await refused({ backend: [to('/t')], extra_config }), [
        ['PIPE_COMPONENT', `${at}/extra_config/qos~1ratelimit~1router`],
      ]);
    });

    it('without backends or a name, and with invalid fields', async () => {
      equal((await refused({ backend: [] }))[0]![1], `${at}/backend`);
      equal((await refused({}))[0]![1], at);
      equal((await refused({ endpoint: undefined, backend: [to('/t')] }))[0]![1], at);
      equal((await refused({ backend: [to('/t')], output_encoding: 'sse' }))[0]![1], `${at}/output_encoding`);
      equal((await refused({ backend: [to('/t')], concurrent_calls: 6 }))[0]![1], `${at}/concurrent_calls`);
      equal((await refused({ backend: [to('/t')], cache_ttl: '1s' }))[0]![0], 'SCHEMA_UNKNOWN_KEY');
    });

    it('with more than 16 levels', async () => {
      const nested = (depth: number): object => workflow({ backend: [depth === 1 ? to('/t') : nested(depth - 1)] });
      await start([nested(16)]);
      deepEqual((await get()).json, { k: 'v' });
      const refusals = await refusalsOf(startGateway(config([nested(17)])));
      deepEqual(
        refusals.map(({ code }) => code),
        ['WORKFLOW_DEPTH'],
      );
    });
  });

  it("causes a warning about a timeout longer than the endpoint's, and about a parameter that its endpoint does not have", async () => {
    await start([workflow({ endpoint: '/w/{other}', timeout: '1h', backend: [to('/t')] })]);
    deepEqual(
      gateway!.status.warnings.map(({ code }) => code),
      ['TIMEOUT_UNUSED', 'WORKFLOW_PARAMETER'],
    );
    match(gateway!.status.warnings[1]!.message, /\{other\}/);
  });
});
