import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { config, openAdmin, type TestAdmin } from './support.ts';

const tokenOf = (id: string, ...scopes: string[]) => ({
  id,
  sha256: createHash('sha256').update(`token-of-${id}`).digest('hex'),
  scopes,
});

const tokens = [
  tokenOf('reader', 'read'),
  tokenOf('proposer', 'read', 'check'),
  tokenOf('writer', 'read', 'check', 'write'),
];

const withTokens = (...endpoints: string[]) => ({
  ...config(...endpoints),
  extra_config: { 'admin/api': { tokens }, 'auth/api-keys': { keys: [{ key: 'very-secret', roles: ['a'] }] } },
});

describe('the admin API over the Model Context Protocol', () => {
  let one: TestAdmin;
  const clients: Client[] = [];

  beforeEach(async () => {
    one = await openAdmin(withTokens('/a'), { token: undefined });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await one.close();
  });

  const connect = async (id: string): Promise<Client> => {
    const client = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { Authorization: `Bearer token-of-${id}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`http://${one.admin.address}/v1/mcp`), { requestInit }),
    );
    clients.push(client);
    return client;
  };
  const call = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    const [{ text }] = content as unknown as [{ text: string }];
    return {
      isError: isError === true,
      text,
      data: text.startsWith('{') && text.endsWith('}') ? JSON.parse(text) : null,
    };
  };
  const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

  it('lists only the tools that the scopes of the token allow', async () => {
    const read = await names(await connect('reader'));
    ok(read.includes('getStatus') && read.includes('getConfig') && read.includes('getMetrics'));
    ok(!read.includes('getEvents') && !read.includes('proposeConfig') && !read.includes('applyConfig'));
    deepEqual(
      (await names(await connect('proposer'))).filter((name) => !read.includes(name)),
      ['proposeConfig'],
    );
    deepEqual(
      (await names(await connect('writer'))).filter((name) => !read.includes(name)),
      ['proposeConfig', 'applyConfig'],
    );
  });

  it('requires a token and an allowed origin, like every operation of the admin port', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    equal((await one.ask('/v1/mcp', { method: 'POST', body, token: null })).status, 401);
    const token = 'token-of-reader';
    const headers = { origin: 'https://evil.example' };
    equal((await one.ask('/v1/mcp', { method: 'POST', body, token, headers })).status, 403);
    equal((await one.ask('/v1/mcp', { method: 'POST', body, token })).status, 200);
    equal((await one.ask('/v1/mcp', { token })).status, 405);
    equal((await one.ask('/v1/mcp', { method: 'POST', body: [body], token })).body.error.code, -32600);
  });

  it('reads everything that the admin API can read', async () => {
    const client = await connect('reader');
    const needed: Record<string, Record<string, unknown>> = {
      getRoutesMatch: { method: 'GET', path: '/a' },
      getRevisionsByNumber: { number: 1 },
      getSchemaByName: { name: 'security/cors' },
    };
    const failed: string[] = [];
    for (const { name, inputSchema } of (await client.listTools()).tools) {
      const { isError, text } = await call(client, name, needed[name] ?? {});
      if (isError && (inputSchema.required ?? []).length === 0)
        failed.push(`${name}: ${JSON.parse(text).detail ?? text}`);
    }
    deepEqual(failed, ['getShadow: no shadow run has been started']);
    equal((await call(client, 'getStatus')).data.revision, 1);
    equal((await call(client, 'getRoutesMatch', needed['getRoutesMatch'])).isError, false);
    match((await call(client, 'getMetrics')).text, /^# HELP/m);
  });

  it('reports invalid arguments without repeating secrets', async () => {
    const client = await connect('writer');
    const { text } = await call(client, 'getConfig', { form: 'source' });
    ok(text.includes('"***"') && !text.includes('very-secret'));
    equal((await call(client, 'getConfig', { reveal: true })).isError, true);
    match((await call(client, 'getConfig', { pointer: '/none' })).text, /the configuration has no value at/);
    match((await call(client, 'getRoutesMatch')).text, /is missing/);
    equal((await call(client, 'getStatus', { ['__proto__x']: 1 })).isError, true);
  });

  it('applies a proposed configuration only on request, and only once', async () => {
    const proposer = await connect('proposer');
    // The configuration is sent with masked secrets, as it was shown: a plaintext secret would be reported as a change.
    const changed = JSON.parse(JSON.stringify(withTokens('/a', '/b')).replace('very-secret', '***'));
    const { data } = await call(proposer, 'proposeConfig', { config: changed });
    equal(data.check.valid, true);
    deepEqual(data.difference.summary, { added: 1, changed: 0, removed: 0 });
    equal(one.gateway.status.revision, 1);
    const args = { config: changed, etag: data.etag, message: 'by a model' };
    const refused = await proposer.callTool({ name: 'applyConfig', arguments: args }).catch((error: Error) => error);
    ok(refused instanceof Error);
    equal(one.gateway.status.revision, 1);

    const writer = await connect('writer');
    equal((await call(writer, 'applyConfig', args)).data.result, 'applied');
    equal(one.gateway.status.revision, 2);
    ok(
      one.lines.some(
        (line) => line.includes('token="writer"') && line.includes('PUT /v1/config') && line.includes('revision=1->2'),
      ),
    );
    // The configuration has changed since the model read it.
    const again = await call(writer, 'applyConfig', { ...args, config: withTokens('/c') });
    equal(again.isError, true);
    equal(again.data.status, 412);
    equal(one.gateway.status.revision, 2);
    equal((await call(writer, 'applyConfig', { ...args, etag: '*' })).isError, true);
  });

  it('keeps the current secrets if a proposal contains their masks', async () => {
    const writer = await connect('writer');
    const source = JSON.parse((await call(writer, 'getConfig', { form: 'source' })).text);
    const { data } = await call(writer, 'proposeConfig', { config: source });
    equal(data.difference.equal, true);
    equal((await call(writer, 'applyConfig', { config: source, etag: data.etag })).data.result, 'unchanged');
  });

  it('reports the places of errors in a proposal', async () => {
    const { isError, data } = await call(await connect('proposer'), 'proposeConfig', {
      config: { version: 3, prot: 1 },
    });
    deepEqual([isError, data.status, data.errors[0].pointer], [true, 422, '/prot']);
  });
});
