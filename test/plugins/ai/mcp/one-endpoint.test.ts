import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Operations } from '#kernel';
import { rememberingSinks, startGateway } from '../../../support/gateway.ts';

const tool = {
  name: 'health',
  title: 'Health',
  description: 'Tells whether the gateway is well.',
  endpoint: '/orders',
};
const orders = { endpoint: '/orders', method: 'POST', backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }] };

function configOf({ server = {}, entry = {}, tools = [] as object[], endpoints = [] as object[] }): object {
  const declared = { name: 'shop', title: 'Shop', version: '1.0.0', tools, ...server };
  return {
    version: 3,
    extra_config: { 'ai/mcp': { servers: [declared] } },
    endpoints: [
      { endpoint: '/mcp', timeout: '20s', extra_config: { 'ai/mcp': { server_name: 'shop' } }, ...entry },
      ...endpoints,
    ],
  };
}

const ofServer = { 'ai/mcp': { servers: [{ name: 'shop', title: 'Shop', version: '1.0.0', tools: [] }] } };

describe('a single endpoint with ai/mcp', () => {
  let gateway: Operations | undefined;
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const start = async (written: Parameters<typeof configOf>[0]): Promise<URL> => {
    gateway = await startGateway(configOf(written), { sinks: rememberingSinks() });
    return new URL(`http://127.0.0.1:${(await gateway.listen()).port}/mcp`);
  };
  const statusOf = async (url: URL, method: string): Promise<number> => {
    const response = await fetch(url, { method, headers: { Accept: 'text/event-stream' } });
    await response.body?.cancel();
    return response.status;
  };

  it('serves all methods of an MCP server without a method and without a backend', async () => {
    const url = await start({ tools: [tool], endpoints: [orders] });
    deepEqual(gateway!.status.warnings, []);
    const transport = new StreamableHTTPClientTransport(url);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['health'],
    );
    await transport.terminateSession();
    await client.close();
    // The status shows that each method is served, and that it requires a session.
    deepEqual([await statusOf(url, 'GET'), await statusOf(url, 'DELETE')], [400, 400]);
  });

  it('serves only POST if the server is stateless', async () => {
    const url = await start({ server: { stateless: true } });
    deepEqual([await statusOf(url, 'GET'), await statusOf(url, 'DELETE')], [405, 405]);
  });

  it('serves only its configured method, and the methods that other endpoints with the same path do not serve', async () => {
    deepEqual(await statusOf(await start({ entry: { method: 'POST' } }), 'GET'), 405);
    await gateway!.close();
    const ended = { endpoint: '/mcp', method: 'DELETE', extra_config: { 'ai/mcp': { server_name: 'shop' } } };
    // If another endpoint shares its path, an endpoint without a method serves only GET.
    const url = await start({ endpoints: [ended] });
    deepEqual(
      [await statusOf(url, 'GET'), await statusOf(url, 'DELETE'), await statusOf(url, 'POST')],
      [400, 400, 405],
    );
  });

  it('includes the request ID in the data of its errors', async () => {
    gateway = await startGateway(
      { ...configOf({}), extra_config: { ...ofServer, router: { request_id: 'X-Request-Id' } } },
      { sinks: rememberingSinks() },
    );
    const url = `http://127.0.0.1:${(await gateway.listen()).port}/mcp`;
    const json = { 'Content-Type': 'application/json', Accept: 'application/json' };
    for (const [headers, body] of [
      [{ 'Content-Type': 'text/plain' }, '{}'],
      [json, 'no JSON'],
      [json, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
    ] as const) {
      const response = await fetch(url, { method: 'POST', headers, body });
      const { error } = (await response.json()) as { error: { data?: { request_id?: string } } };
      equal(error.data?.request_id, response.headers.get('x-request-id'), body);
      ok(error.data?.request_id);
    }
  });

  it('is reported as the location of errors in its configuration', async () => {
    const entry = { extra_config: { 'ai/mcp': { server_name: 'shop' }, 'qos/ratelimit/router': { max_rate: 'x' } } };
    await rejects(startGateway(configOf({ entry })), (error: Error) => {
      match(error.message, /^\/endpoints\/0\/extra_config\/qos~1ratelimit~1router\/max_rate {2}/);
      equal(error.message.includes('/endpoints/1'), false);
      return true;
    });
  });

  it('explains HTTP errors to the client in the response', async () => {
    const url = await start({});
    const requested = async (headers: Record<string, string>, method = 'POST') => {
      const response = await fetch(url, { method, headers, ...(method === 'POST' && { body: '{}' }) });
      return [response.status, ((await response.json()) as { error: { message: string } }).error.message];
    };
    deepEqual(await requested({ 'Content-Type': 'text/plain' }), [415, 'the Content-Type must be application/json']);
    const typed = { 'Content-Type': 'application/json' };
    deepEqual(await requested({ ...typed, Accept: 'text/html' }), [
      406,
      'the client must accept application/json or text/event-stream',
    ]);
    deepEqual(await requested({ Accept: 'text/html' }, 'GET'), [406, 'the client must accept text/event-stream']);
    equal((await requested({ ...typed, Origin: 'https://evil.example' }))[0], 403);
  });
});

describe("a tool's endpoint", () => {
  const refusal = async (tools: object[], endpoints: object[]): Promise<string> => {
    const gateway = await startGateway(configOf({ tools, endpoints })).catch((error: Error) => error);
    if (gateway instanceof Error) return gateway.message;
    await gateway.close();
    return '';
  };

  it('does not need a method in the tool if it serves a single method', async () => {
    equal(await refusal([tool], [orders]), '');
    equal(await refusal([{ ...tool, method: 'POST' }], [orders]), '');
    match(await refusal([{ ...tool, method: 'PUT' }], [orders]), /the endpoint \/orders does not serve PUT/);
  });

  it('needs a method in the tool if it serves several methods other than GET', async () => {
    const several = [orders, { ...orders, method: 'PUT' }];
    match(await refusal([tool], several), /"method" is required: \/orders is served with POST, PUT/);
    equal(await refusal([tool], [...several, { ...orders, method: 'GET' }]), '');
  });
});
