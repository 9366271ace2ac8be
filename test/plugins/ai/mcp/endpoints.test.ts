import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/ai/mcp/index.ts';
import { until } from '../../../support/conditions.ts';
import { json, startGateway } from '../../../support/gateway.ts';
import { pipePlugins } from '../../../support/pipe-plugins.ts';
import { configOf, Stage, type Written } from './setup.ts';

const host = 'http://127.0.0.1:1';
const named = (name: string, more: object) => ({ name, title: name, description: `Does ${name}.`, ...more });

/** `GET /users/{id}` as the tool `user`, and its `PUT` as `rename`. */
const get = {
  endpoint: '/users/{id}',
  input_query_strings: ['lang', 'tags'],
  backend: [{ url_pattern: '/u/{id}' }],
};
const body = { type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 2 } } };
const put = {
  endpoint: '/users/{id}',
  method: 'PUT',
  input_query_strings: ['dry'],
  backend: [{ url_pattern: '/u/{id}', method: 'PUT' }],
  extra_config: { 'validation/json-schema': { ...body, additionalProperties: false } },
};
const user = named('user', { endpoint: '/users/{id}' });
const rename = named('rename', { endpoint: '/users/{id}', method: 'PUT' });

describe('an endpoint exposed as an MCP tool', () => {
  let stage: Stage;
  const stateless = { server: { stateless: true, json_response: true } };
  const start = (respond: Parameters<Stage['start']>[0], written: Written = {}) =>
    stage.start(respond, { ...stateless, endpoints: [get, put], tools: [user, rename], ...written });
  const call = async (name: string, args: unknown, headers?: Record<string, string>) =>
    (await stage.call(args, headers, name)).message.result;
  const targets = () => stage.backend.requests.map(({ method, target }) => `${method} ${target}`);

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.close());

  it('receives tool arguments in its path, query and body', async () => {
    await start(json({ name: 'Ada' }));
    deepEqual(await call('user', { id: '7 ü', lang: 'de', tags: 'a' }), {
      content: [{ type: 'text', text: '{"name":"Ada"}' }],
    });
    await call('rename', { id: '7', name: 'Ada', dry: 'yes' });
    deepEqual(targets(), ['GET /u/7%20%C3%BC?lang=de&tags=a', 'PUT /u/7?dry=yes']);
    const [, sent] = stage.backend.requests;
    equal(sent!.body.toString(), '{"name":"Ada"}');
    equal(sent!.headers['content-type'], 'application/json');
  });

  it("is called with the tool's method if it serves every method", async () => {
    const any = { ...get, method: 'ANY' };
    await start(json({}), { endpoints: [any], tools: [user, rename].map((tool) => ({ ...tool, method: 'PATCH' })) });
    await call('rename', { id: '7', name: 'Ada' });
    deepEqual(targets(), ['PATCH /u/7']);
    equal(stage.backend.requests[0]!.body.toString(), '{"name":"Ada"}');
  });

  it('receives list arguments as repeated query parameters, even if the request has a body', async () => {
    const schema = { ...body, properties: { ...body.properties, id: { type: 'string' } } };
    await start(json({}), {
      endpoints: [get, { ...put, extra_config: { 'validation/json-schema': schema } }],
      tools: [{ ...user, input_schema: { type: 'object', properties: { id: {} } } }, rename],
    });
    await call('user', { id: 7, tags: ['a', 'b', null], lang: null, other: 1 });
    await call('rename', { id: '7', name: 'Ada' });
    deepEqual(targets(), ['GET /u/7?tags=a&tags=b', 'PUT /u/7']);
    equal(stage.backend.requests[1]!.body.toString(), '{"id":"7","name":"Ada"}');
  });

  it("derives the tool's input and output schemas from its own validation schemas unless the tool declares them", async () => {
    const result = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', required: ['name'] };
    const checked = { ...get, extra_config: { 'validation/response-json-schema': { schema: result } } };
    const own = { ...rename, name: 'own', input_schema: { type: 'object', properties: { id: {} } } };
    await start(json({ name: 'Ada' }), { endpoints: [checked, put], tools: [user, rename, own] });
    const { tools } = (await stage.ask('tools/list')).message.result;
    const byName = Object.fromEntries(tools.map((tool: { name: string }) => [tool.name, tool]));
    const text = { type: 'string' };
    deepEqual(byName.user.inputSchema, {
      type: 'object',
      properties: { id: text, lang: text, tags: text },
      required: ['id'],
    });
    deepEqual(byName.user.outputSchema, { type: 'object', required: ['name'] });
    deepEqual(byName.rename.inputSchema, {
      type: 'object',
      properties: { id: text, dry: text, name: { type: 'string', minLength: 2 } },
      required: ['id', 'name'],
      additionalProperties: false,
    });
    deepEqual(byName.own.inputSchema, own.input_schema);
    deepEqual((await call('user', { id: '7' })).structuredContent, { name: 'Ada' });
  });

  it("is not called with arguments that violate the tool's schema; the model receives the violations", async () => {
    await start(json({}));
    for (const [name, args, said] of [
      ['rename', { id: '7', name: 'A' }, /\/name must NOT have fewer than 2/],
      ['rename', { name: 'Ada' }, /required property 'id'/],
      ['rename', { id: '7', name: 'Ada', x: 1 }, /x/],
      ['user', { id: ['7'] }, /\/id must be string/],
      ['user', { id: '' }, /id must not be empty/],
    ] as const) {
      const { isError, content } = await call(name, args);
      equal(isError, true);
      match(content[0].text, said);
    }
    deepEqual(targets(), []);
  });

  it('is the only endpoint that the call can reach, regardless of the arguments', async () => {
    const me = { endpoint: '/users/me', backend: [{ url_pattern: '/secret' }] };
    const below = { endpoint: '/users/{id}/keys', backend: [{ url_pattern: '/secret' }] };
    await start(json({}), { endpoints: [get, me, below], tools: [user] });
    for (const id of ['me', '.', '..', '../admin', 'a/keys', '%2e%2e', 'x?y#z', '\ud800']) await call('user', { id });
    ok(
      targets().every((target) => target.startsWith('GET /u/')),
      String(targets()),
    );
    const said = async (id: string) => (await call('user', { id })).content[0].text;
    match(
      await said('me'),
      /^with these arguments, the path belongs to another endpoint than \/users\/\{id\}: change id$/,
    );
    for (const id of ['a/keys', '..']) match(await said(id), /^the argument id must be a single path segment/);
  });

  it('applies its own components: rate limits, policies, API keys and validation', async () => {
    const limited = {
      ...get,
      extra_config: {
        'qos/ratelimit/router': { max_rate: 1, capacity: 2, every: '1h' },
        'security/policies': { req: { policies: ["req_params.Id != '9'"] } },
      },
    };
    await start(json({}), { endpoints: [limited], tools: [{ ...user, return_error_msg: true }] });
    equal((await call('user', { id: '9' })).isError, true);
    equal((await call('user', { id: '1' })).isError, undefined);
    const third = await call('user', { id: '1' });
    equal(third.isError, true);
    match(third.content[0].text, /rate limit/);
    deepEqual(targets(), ['GET /u/1']);
  });

  it('receives the headers that the tool lists, but no credentials or cookies', async () => {
    const guarded = {
      ...get,
      input_headers: ['*'],
      extra_config: { 'auth/api-keys': { roles: ['a'] } },
    };
    const root = { extra_config: { 'auth/api-keys': { keys: [{ key: 'k', roles: ['a'] }] } } };
    const tools = [user, { ...user, name: 'trusted', input_headers: ['Authorization', 'X-Tenant'] }];
    await start(json({}), { endpoints: [guarded], tools, root });
    const sent = { Authorization: 'Bearer k', 'X-Tenant': 'a', Cookie: 'a=b', 'X-Other': 'c' };
    equal((await call('user', { id: '1' }, sent)).isError, true);
    deepEqual(targets(), []);
    equal((await call('trusted', { id: '1' }, sent)).isError, undefined);
    const { headers } = stage.backend.requests[0]!;
    deepEqual(
      [headers['x-tenant'], headers['cookie'], headers['x-other'], headers['mcp-session-id']],
      ['a', undefined, undefined, undefined],
    );
    equal(headers['x-forwarded-for'], '127.0.0.1');
  });

  it('applies its own timeout, and is counted in the metrics', async () => {
    await start(() => {}, {
      endpoints: [{ ...get, timeout: '40ms' }],
      tools: [{ ...user, return_error_msg: true }],
    });
    const { isError, content } = await call('user', { id: '1' });
    equal(isError, true);
    match(content[0].text, /deadline/);
    const { routes } = stage.gateway.serving.compiled;
    const { traffic } = routes.find(({ endpoint }) => endpoint.endpoint === '/users/{id}')!;
    deepEqual([traffic.calls, traffic.errors], [1, 1]);
  });

  it('applies its own max_payload', async () => {
    const small = { ...put, extra_config: { proxy: { max_payload: 20 } } };
    await start(json({}), { endpoints: [small], tools: [{ ...rename, return_error_msg: true }] });
    equal((await call('rename', { id: '7', name: 'Ada' })).isError, undefined);
    match((await call('rename', { id: '7', name: 'Ada Lovelace' })).content[0].text, /larger than 20 bytes/);
    deepEqual(targets(), ['PUT /u/7']);
  });

  it('is canceled together with the tool call', async () => {
    let gone = false;
    await start(
      (_seen, response) =>
        void response.once('close', () => {
          gone = true;
        }),
    );
    const leaving = new AbortController();
    const pending = stage.ask('tools/call', { name: 'user', arguments: { id: '1' } }, {}, leaving.signal);
    await until(() => stage.backend.requests.length === 1);
    leaving.abort();
    await pending.catch(() => {});
    await until(() => gone);
  });

  it('with the no-op encoding returns images and plain text, and empty content for a response without a body', async () => {
    const raw = { ...get, output_encoding: 'no-op' };
    await start(
      ({ target }, response) =>
        void (target === '/u/none'
          ? response.writeHead(204).end()
          : response.writeHead(target === '/u/bad' ? 404 : 200, { 'Content-Type': 'image/x' }).end('abc')),
      {
        endpoints: [raw],
        tools: [
          { ...user, type: 'image' },
          { ...user, name: 'text' },
        ],
      },
    );
    deepEqual((await call('user', { id: '1' })).content, [{ type: 'image', data: 'YWJj', mimeType: 'image/x' }]);
    deepEqual((await call('text', { id: '1' })).content, [{ type: 'text', text: 'abc' }]);
    equal((await call('text', { id: 'bad' })).isError, true);
    equal((await call('text', { id: 'none' })).isError, undefined);
  });

  it('is taken from the active configuration after a reload', async () => {
    await start(json({}));
    const moved = { ...get, backend: [{ url_pattern: '/moved/{id}' }] };
    const written = { ...stateless, endpoints: [moved], tools: [user] };
    await stage.gateway.reload(configOf(stage.backend.url, written));
    await call('user', { id: '1' });
    deepEqual(targets(), ['GET /moved/1']);
  });

  it('is available only to clients of its virtual host', async () => {
    const virtual = { ...get, endpoint: '/__virtual/shop.example/users/{id}' };
    await start(json({}), {
      endpoints: [virtual],
      tools: [named('user', { endpoint: virtual.endpoint })],
      root: { extra_config: { 'server/virtualhost': { hosts: ['shop.example'] } } },
    });
    equal((await call('user', { id: '1' })).isError, true);
    const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'user', arguments: { id: '1' } } };
    const answer = await stage.gateway.inject({
      method: 'POST',
      url: '/mcp',
      headers: { host: 'shop.example', 'content-type': 'application/json' },
      payload,
    });
    equal(answer.json().result.isError, undefined);
    deepEqual(targets(), ['GET /u/1']);
  });

  describe('in the configuration', () => {
    const refused = (tool: object, at: RegExp, endpoints: readonly object[] = [get, put]) =>
      rejects(startGateway(configOf(host, { endpoints, tools: [tool] })), at);

    it("must exist with the tool's path and method", async () => {
      await refused(named('a', { endpoint: '/user/{id}' }), /tools\/1\/endpoint {2}MCP_ENDPOINT/);
      await refused(named('a', { endpoint: '/users/{id}', method: 'POST' }), /tools\/1\/method {2}MCP_ENDPOINT/);
      await refused(named('a', { endpoint: '/users/{id}' }), /"method" is required: .* serves every method/, [
        { ...get, method: 'ANY' },
      ]);
      await refused(named('a', {}), /exactly one of|workflow/);
      await refused(
        named('a', { endpoint: '/users/{id}', workflow: { endpoint: '/', backend: [{ url_pattern: '/' }] } }),
        /exactly one of|workflow/,
      );
    });

    it('must not be an MCP endpoint, a stream, a WebSocket or a wildcard', async () => {
      const at = /tools\/1\/endpoint {2}MCP_ENDPOINT/;
      await refused(named('a', { endpoint: '/mcp', method: 'POST' }), at);
      for (const output_encoding of ['streaming', 'sse', 'ndjson', 'eventstream']) {
        await refused(named('a', { endpoint: '/users/{id}' }), at, [{ ...get, output_encoding }]);
      }
      const socket = {
        endpoint: '/ws',
        extra_config: { websocket: {} },
        backend: [{ url_pattern: '/', host: ['ws://a'] }],
      };
      await refused(named('a', { endpoint: '/ws' }), at, [socket]);
      await refused(named('a', { endpoint: '/files/*' }), at, [
        { ...get, endpoint: '/files/*', backend: [{ url_pattern: '/' }] },
      ]);
    });

    it('must use no-op encoding for tools of the type "image"', async () => {
      await refused(named('a', { endpoint: '/users/{id}', type: 'image' }), /tools\/1\/endpoint {2}MCP_WORKFLOW/);
    });

    it('is accepted with a warning if its schema cannot be published to clients', async () => {
      const old = { id: 'http://a/b', type: 'object', properties: { n: { minimum: 1, exclusiveMinimum: true } } };
      const warnings = await warningsOf([
        { ...put, extra_config: { 'validation/json-schema': old } },
        { ...put, endpoint: '/list', extra_config: { 'validation/json-schema': { type: 'array' } } },
      ]);
      deepEqual(warnings, ['MCP_SCHEMA', 'MCP_SCHEMA']);
    });

    it("is reported with a warning if the tool's schema lacks one of its path parameters", async () => {
      const schema = { type: 'object', properties: { other: {} } };
      deepEqual(await warningsOf([put], { input_schema: schema }), ['MCP_ARGUMENT']);
    });

    async function warningsOf(
      endpoints: readonly { endpoint: string; method: string; extra_config: object }[],
      tool: object = {},
    ) {
      const tools = endpoints.map(({ endpoint, method }, at) => named(`t${at}`, { endpoint, method, ...tool }));
      const gate = await openHarness(
        plugin,
        'service',
        { servers: [{ name: 'a', title: 'A', version: '1', tools }] },
        {
          plugins: pipePlugins(plugin, 'service'),
          service: { endpoints: endpoints.map((each) => ({ output_encoding: 'json', ...each })) } as never,
        },
      );
      await gate.close();
      return gate.warnings.map(({ code }) => code);
    }
  });
});
