import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/ai/mcp/index.ts';
import { json, startGateway } from '../../../support/gateway.ts';
import { pipePlugins } from '../../../support/pipe-plugins.ts';
import { configOf, lookup, modern, Stage } from './setup.ts';

const host = 'http://127.0.0.1:1';

describe('the configuration of an MCP server', () => {
  const refused = (config: object, message: RegExp) => rejects(startGateway(config), message);
  const workflow = { endpoint: '/x', backend: [{ host: [host], url_pattern: '/' }] };
  const stage = new Stage();
  const service = (servers: readonly object[]) =>
    openHarness(plugin, 'service', { servers }, { plugins: pipePlugins(plugin, 'service') });

  after(() => stage.close());

  it('accepts an empty list of servers and applies defaults to absent fields', async () => {
    await (await startGateway({ extra_config: { 'ai/mcp': { servers: [] } } })).close();
    const gateway = await startGateway(configOf(host));
    const { servers } = gateway.config.extra_config['ai/mcp'] as unknown as { servers: Record<string, unknown>[] };
    equal(servers.length, 1);
    await gateway.close();
    const { schema } = plugin.places![0]! as unknown as {
      schema: { properties: { servers: { items: { properties: Record<string, { default?: unknown }> } } } };
    };
    const { properties } = schema.properties.servers.items;
    deepEqual(
      Object.entries(properties).map(([name, { default: value }]) => [name, value]),
      [
        ['name', undefined],
        ['title', undefined],
        ['version', undefined],
        ['instructions', ''],
        ['json_response', false],
        ['stateless', false],
        ['ping_period', '0s'],
        ['sse_transport', false],
        ['tool_audience_source', undefined],
        ['tools', []],
        ['upstreams', []],
        ['protected_resource', undefined],
      ],
    );
  });

  it('requires a name, title and version for servers, and a workflow for tools', async () => {
    for (const field of ['name', 'title', 'version']) {
      await refused(configOf(host, { server: { [field]: undefined } }), new RegExp(`'${field}'`));
    }
    for (const field of ['name', 'title', 'description', 'workflow']) {
      const { workflow: _none, ...rest } = { ...lookup, workflow };
      const tool = field === 'workflow' ? rest : { ...lookup, workflow, [field]: undefined };
      await refused(
        configOf(host, { tools: [{ ...tool, ...(field !== 'name' && { name: 'other' }) }] }),
        new RegExp(`'${field}'`),
      );
    }
    await refused(configOf(host, { tool: { annotations: { title: 'x' } } }), /'title'/);
    await refused(configOf(host, { tool: { type: 'video' } }), /type/);
    await refused(configOf(host, { tool: { input_headers: ['A', 'A'] } }), /input_headers/);
    await refused(configOf(host, { workflow: { extra_config: { 'auth/basic': {} } } }), /auth\/basic/);
  });

  it('rejects duplicate names', async () => {
    await refused(configOf(host, { tools: [{ ...lookup, workflow }] }), /tools\/1\/name {2}MCP_DUPLICATE/);
    const server = { name: 'a', title: 'A', version: '1' };
    await rejects(service([server, server]), /servers\/1\/name {2}MCP_DUPLICATE/);
  });

  it('warns about tool names that not all clients accept', async () => {
    const named = async (name: string) => {
      const gate = await service([{ name: 'a', title: 'A', version: '1', tools: [{ ...lookup, name, workflow }] }]);
      await gate.close();
      return gate.warnings.map(({ code }) => code);
    };
    deepEqual(await named('A-z_0.9'), []);
    deepEqual(await named('ein Name'), ['MCP_TOOL_NAME']);
    deepEqual(await named('x'.repeat(129)), ['MCP_TOOL_NAME']);
  });

  it('requires valid object schemas with patterns that match in linear time', async () => {
    const at = (field: string) => new RegExp(`tools/0/${field}.*MCP_SCHEMA`);
    for (const field of ['input_schema', 'output_schema']) {
      await refused(configOf(host, { tool: { [field]: { type: 'nonsense' } } }), at(field));
      await refused(configOf(host, { tool: { [field]: { type: 'array' } } }), at(field));
      await refused(configOf(host, { tool: { [field]: { properties: 7 } } }), at(field));
      await refused(
        configOf(host, { tool: { [field]: { $schema: 'http://json-schema.org/draft-07/schema#' } } }),
        at(field),
      );
      await refused(configOf(host, { tool: { [field]: { $ref: 'https://example.com/schema' } } }), at(field));
      await refused(
        configOf(host, { tool: { [field]: { properties: { a: { pattern: '(?=a)' } } } } }),
        /PATTERN_INVALID|MCP_SCHEMA/,
      );
    }
  });

  it('rejects x-mcp-header annotations that clients do not support', async () => {
    const marked = (schema: object) => refused(configOf(host, { tool: { input_schema: schema } }), /MCP_PARAM_HEADER/);
    const text = { type: 'string', 'x-mcp-header': 'A' };
    await marked({ 'x-mcp-header': 'A' });
    await marked({ properties: { a: { ...text, 'x-mcp-header': 'a b' } } });
    await marked({ properties: { a: { ...text, type: 'number' } } });
    await marked({ properties: { a: { type: 'array', items: text } } });
    await marked({ properties: { a: text, b: { ...text, 'x-mcp-header': 'a' } } });
    await (
      await startGateway(
        configOf(host, {
          tool: {
            input_schema: { properties: { 'x-mcp-header': { type: 'string' }, o: { properties: { a: text } } } },
          },
        }),
      )
    ).close();
  });

  it('accepts only exact names as input_headers, and no connection headers', async () => {
    for (const name of ['*', 'a b', 'Host', 'Connection', 'Content-Length', 'X-Forwarded-For']) {
      await refused(configOf(host, { tool: { input_headers: [name] } }), /input_headers\/0 {2}MCP_HEADER/);
    }
  });

  it('requires the no-op encoding for image results and rejects output schemas with it', async () => {
    await refused(configOf(host, { tool: { type: 'image' } }), /workflow\/output_encoding {2}MCP_WORKFLOW/);
    await refused(
      configOf(host, { tool: { output_schema: {} }, workflow: { output_encoding: 'no-op' } }),
      /output_schema {2}MCP_SCHEMA/,
    );
  });

  it('rejects backend parameters that the workflow does not define', () =>
    refused(configOf(host, { backend: { url_pattern: '/{other}' } }), /other/));

  it('rejects an endpoint whose server_name is not declared', async () => {
    const named = (server_name: string) => configOf(host, { extra: { 'ai/mcp': { server_name } } });
    await refused(named('other'), /endpoints\/0\/extra_config\/ai~1mcp\/server_name {2}MCP_SERVER/);
    await refused(
      {
        endpoints: [
          {
            endpoint: '/mcp',
            method: 'POST',
            extra_config: { 'ai/mcp': { server_name: 'a' } },
            backend: [{ url_pattern: '/' }],
          },
        ],
      },
      /MCP_SERVER/,
    );
  });

  it('accepts only POST for messages, and GET and DELETE if the server has sessions', async () => {
    await refused(configOf(host, { endpoint: { method: 'PUT' } }), /MCP_METHOD/);
    await refused(configOf(host, { server: { stateless: true }, endpoint: { method: 'GET' } }), /MCP_METHOD/);
  });

  it('warns about a server without an endpoint, and about a ping_period without streams', async () => {
    const gate = await service([{ name: 'a', title: 'A', version: '1', stateless: true, ping_period: '1s' }]);
    deepEqual(
      gate.warnings.map(({ code, pointer }) => [code, pointer.split('/').at(-1)]),
      [['MCP_UNUSED', 'ping_period']],
    );
    await gate.close();
  });

  describe('with token authentication', () => {
    const resource = {
      resource: 'https://api.example.com/mcp',
      authorization_servers: ['https://id.example.com'],
      scopes_supported: ['tools'],
    };
    const validator = { 'auth/validator': { alg: 'HS256', jwk_local_path: 'samples/tokens/keys.json' } };

    it('refers clients without a token to the resource metadata in a 401', async () => {
      await stage.start(json({}), { server: { stateless: true, protected_resource: resource }, extra: validator });
      const { status, headers } = await stage.ask('ping');
      equal(status, 401);
      const url = 'https://api.example.com/.well-known/oauth-protected-resource/mcp';
      equal(headers.get('www-authenticate'), `Bearer resource_metadata="${url}"`);
      const document = await stage.send({ method: 'GET', path: new URL(url).pathname });
      deepEqual(document.message, resource);
      equal(document.headers.get('content-type'), 'application/json');
    });

    it('marks responses as private for caches', async () => {
      const token = new Stage();
      await token.start(json({}), {
        server: { stateless: true },
        extra: { 'auth/api-keys': { roles: ['a'] } },
        root: { extra_config: { 'auth/api-keys': { keys: [{ key: 'k', roles: ['a'] }] } } },
      });
      const sent = modern('tools/list');
      const { message } = await token.send({ ...sent, headers: { ...sent.headers, Authorization: 'Bearer k' } });
      equal(message.result.cacheScope, 'private');
      await token.close();
    });

    for (const [what, written] of [
      ['a policy', { extra: { 'security/policies': { req: { policies: ["size(req_headers['X-A']) > 0"] } } } }],
      ['a plugin at the root', { root: { extra_config: { 'plugin/http-server': { name: [] } } } }],
      ['a script', { extra: { 'modifier/lua-endpoint': { sources: [], pre: '' } } }],
    ] as const) {
      it(`marks responses as private for caches behind ${what}, which can reject some clients`, async () => {
        equal(await scopeBehind(written), 'private');
      });
    }

    it('marks responses as public for caches without authentication', async () => {
      const limit = { 'qos/ratelimit/router': { max_rate: 100 } };
      equal(await scopeBehind({ extra: limit, root: { extra_config: { router: {} } } }), 'public');
    });

    async function scopeBehind(written: object): Promise<string> {
      const own = new Stage();
      await own.start(json({}), { server: { stateless: true }, ...written });
      const sent = modern('tools/list');
      const { message } = await own.send({ ...sent, headers: { ...sent.headers, 'X-A': 'b' } });
      await own.close();
      return message.result.cacheScope;
    }

    it('rejects resource metadata with invalid URLs', async () => {
      for (const [field, value] of [
        ['resource', 'api.example.com'],
        ['resource', 'https://a.example/"x'],
        ['resource', 'https://a.example/?x'],
        ['authorization_servers', ['ftp://id.example.com']],
      ] as const) {
        await refused(
          configOf(host, { server: { protected_resource: { ...resource, [field]: value } } }),
          /MCP_RESOURCE/,
        );
      }
    });
  });

  it('accepts browser requests from the origins that CORS at the endpoint or at the root allows', async () => {
    const cors = { 'security/cors': { allow_origins: ['https://*.shop.example'], allow_methods: ['POST'] } };
    for (const written of [{ extra: cors }, { root: { extra_config: cors } }]) {
      const own = new Stage();
      await own.start(json({}), { server: { stateless: true }, ...written });
      const from = async (origin: string) => (await own.ask('ping', undefined, { Origin: origin })).status;
      equal(await from('https://a.shop.example'), 200);
      equal(await from('https://evil.example'), 403);
      equal(await from(`http://127.0.0.1:${own.port}`), 403);
      await own.close();
    }
  });

  it('reports the location of a component that can never be called', async () => {
    await rejects(startGateway(configOf(host, { workflow: { backend: [{ url_pattern: '/' }] } })), (error: Error) => {
      match(error.message, /servers\/0\/tools\/0\/workflow\/backend\/0/);
      return true;
    });
  });
});
