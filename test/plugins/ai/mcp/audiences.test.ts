import { deepEqual, equal, rejects } from 'node:assert/strict';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/ai/mcp/index.ts';
import { json, startGateway } from '../../../support/gateway.ts';
import { pipePlugins } from '../../../support/pipe-plugins.ts';
import { configOf, lookup, Stage, type Written } from './setup.ts';

const workflow = { endpoint: '/x', backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }] };
const extra = (name: string, audiences?: readonly string[]) => ({
  ...lookup,
  name,
  workflow,
  ...(audiences && { audiences }),
});

describe('an MCP server with audiences', () => {
  let stage: Stage;
  const source = { header_name: 'X-Role' };
  const start = (audienceSource: object = source, written: Written = {}) =>
    stage.start(json({}), {
      server: { stateless: true, json_response: true, tool_audience_source: audienceSource },
      tool: { audiences: ['admin', 'dev'] },
      tools: [extra('any', ['*']), extra('admin', ['admin']), extra('nobody')],
      ...written,
    });
  const list = async (headers: Record<string, string>, path?: string) => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const { message } = await stage.send({ headers, body, ...(path && { path }) });
    return message.result.tools.map(({ name }: { name: string }) => name);
  };

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.close());

  it('lists the tools of all audiences that the request belongs to', async () => {
    await start();
    deepEqual(await list({ 'X-Role': 'dev' }), ['lookup', 'any']);
    deepEqual(await list({ 'X-Role': 'x, admin' }), ['lookup', 'any', 'admin']);
    deepEqual(await list({ 'X-Role': 'Dev' }), ['any']);
    deepEqual(await list({ 'X-Role': '__proto__' }), ['any']);
    deepEqual(await list({ 'X-Role': '*' }), ['any']);
  });

  it('lists no tools for requests without an audience, but all tools with on_absent_value "allow"', async () => {
    await start();
    deepEqual(await list({}), []);
    for (const role of ['', ' , ']) deepEqual(await list({ 'X-Role': role }), []);
    await stage.close();
    await start({ ...source, on_absent_value: 'allow' });
    deepEqual(await list({}), ['lookup', 'any', 'admin', 'nobody']);
    deepEqual(await list({ 'X-Role': 'x' }), ['any']);
  });

  it('responds to calls of tools for other audiences as to calls of unknown tools', async () => {
    await start();
    const { message } = await stage.call({ code: 'ES' }, { 'X-Role': 'x' });
    equal(message.error.code, (await stage.call({}, { 'X-Role': 'dev' }, 'unknown')).message.error.code);
    equal(message.result, undefined);
    equal((await stage.call({ code: 'ES' }, { 'X-Role': 'dev' })).message.result.isError, undefined);
    equal(stage.backend.requests.length, 1);
  });

  it('combines the audiences of the header and of the path', async () => {
    const at = { endpoint: { endpoint: '/mcp/{role}' } };
    await start({ ...source, param_name: 'role' }, at);
    deepEqual(await list({}, '/mcp/dev'), ['lookup', 'any']);
    deepEqual(await list({ 'X-Role': 'admin' }, '/mcp/x'), ['lookup', 'any', 'admin']);
  });

  it('marks its list of tools as private for caches', async () => {
    await start();
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const headers = { 'X-Role': 'dev', 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/list' };
    const { message } = await stage.ask('tools/list', { _meta: meta }, headers);
    equal(message.result.cacheScope, 'private');
  });

  it('requires a header, or a path variable that exists in its endpoint, as the source of audiences', async () => {
    const host = 'http://127.0.0.1:1';
    const refused = (audienceSource: object, message: RegExp) =>
      rejects(startGateway(configOf(host, { server: { tool_audience_source: audienceSource } })), message);
    await refused({}, /tool_audience_source {2}MCP_AUDIENCE/);
    await refused({ header_name: 'X Role' }, /header_name {2}MCP_AUDIENCE/);
    await refused({ param_name: 'role' }, /server_name {2}MCP_AUDIENCE/);
  });

  it('warns about tools that no client can use, and about audiences without a source', async () => {
    const warnings = async (server: object) => {
      const servers = [{ name: 'a', title: 'A', version: '1', ...server }];
      const gate = await openHarness(plugin, 'service', { servers }, { plugins: pipePlugins(plugin, 'service') });
      await gate.close();
      return gate.warnings.map(({ code, pointer }) => [code, pointer.split('/').slice(-3).join('/')]);
    };
    deepEqual(await warnings({ tool_audience_source: source, tools: [extra('a'), extra('b', ['*'])] }), [
      ['MCP_AUDIENCE', '0/tools/0'],
    ]);
    deepEqual(await warnings({ tools: [extra('a', ['x']), extra('b')] }), [['MCP_UNUSED', 'tools/0/audiences']]);
  });
});
