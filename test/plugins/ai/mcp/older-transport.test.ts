import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { Client, SSEClientTransport } from '@modelcontextprotocol/client';
import { ClientStream } from '../../../../plugins/ai/mcp/client-stream.ts';
import { until } from '../../../support/conditions.ts';
import { json, startGateway } from '../../../support/gateway.ts';
import { bundledProgram } from '../../../support/programs.ts';
import { configOf, Stage } from './setup.ts';

/** A client of the older transport over plain HTTP. */
async function listen(stage: Stage, headers: Record<string, string> = {}) {
  const leaving = new AbortController();
  const response = await fetch(stage.url, {
    headers: { Accept: 'text/event-stream', ...headers },
    signal: leaving.signal,
  });
  let text = '';
  const ended = (async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk;
  })().catch(() => {});
  await until(() => text.includes('\n\n'));
  const path = /^event: endpoint\ndata: (.*)\n\n/.exec(text)?.[1] ?? '';
  return {
    response,
    path,
    ended,
    leave: () => leaving.abort(),
    get text() {
      return text;
    },
    // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary members.
    get messages(): any[] {
      return [...text.matchAll(/^event: message\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!));
    },
  };
}

describe('the MCP transport of 2024-11-05 (HTTP with SSE)', () => {
  let stage: Stage;
  const older = { server: { sse_transport: true } };
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    stage.send({ path, body, headers });
  const request = (id: number, method: string, params?: object) => ({ jsonrpc: '2.0', id, method, params });
  const lookup = (id: number) => request(id, 'tools/call', { name: 'lookup', arguments: { code: 'ES' } });

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.close());

  it('serves the official client across a reload', async () => {
    await stage.start(json({ name: 'Spain' }), older);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new SSEClientTransport(new URL(stage.url)));
    deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['lookup'],
    );
    const result = await client.callTool({ name: 'lookup', arguments: { code: 'ES' } });
    deepEqual(result.content, [{ type: 'text', text: '{"name":"Spain"}' }]);
    await stage.gateway.reload(configOf(stage.backend.url, { ...older, tool: { name: 'other' } }));
    deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['other'],
    );
    equal((await client.callTool({ name: 'other', arguments: { code: 'es' } })).isError, true);
    await client.close();
    await until(() => stage.gateway.status.streams === 0);
  });

  it('does not write session IDs to the access log', async () => {
    await stage.start(json({}), { ...older, root: { extra_config: { 'telemetry/logging': { level: 'INFO' } } } });
    const listening = await listen(stage);
    equal((await post(`${listening.path}&x=1`, request(1, 'ping'))).status, 202);
    await until(() => stage.lines.some((line) => line.includes('/mcp?')));
    const session = listening.path.split('=')[1]!;
    ok(stage.lines.every((line) => !line.includes(session)));
    ok(stage.lines.some((line) => line.includes('/mcp?session_id=***&x=1')));
    listening.leave();
    await listening.ended;
  });

  it('announces the URL for messages first, answers messages with 202 and sends results over the stream', async () => {
    await stage.start(json({ name: 'Spain' }), older);
    const client = await listen(stage);
    equal(client.response.headers.get('content-type'), 'text/event-stream');
    match(client.path, /^\/mcp\?session_id=[0-9a-f-]{36}$/);
    const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
    const { status, text, headers } = await post(client.path, request(1, 'initialize', params));
    deepEqual([status, text, headers.get('mcp-session-id')], [202, '', null]);
    await until(() => client.messages.length === 1);
    equal(client.messages[0].result.protocolVersion, '2024-11-05');
    equal((await post(client.path, { jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202);
    await post(client.path, lookup(2), { 'MCP-Protocol-Version': '2024-11-05' });
    await until(() => client.messages.length === 2);
    deepEqual(client.messages[1], {
      jsonrpc: '2.0',
      id: 2,
      result: { content: [{ type: 'text', text: '{"name":"Spain"}' }] },
    });
    client.leave();
  });

  it('rejects invalid messages, unknown streams, foreign origins and too many concurrent messages', async () => {
    await stage.start(() => {}, older);
    const client = await listen(stage);
    equal((await post(client.path, '{')).message.error.code, -32700);
    equal((await post(client.path, [])).message.error.code, -32600);
    equal((await post('/mcp?session_id=x', lookup(1))).status, 404);
    equal((await post('/mcp?session_id=__proto__', lookup(1))).status, 404);
    equal((await post(client.path, lookup(1), { Origin: 'https://evil.example' })).status, 403);
    equal((await stage.send({ method: 'GET', headers: { Accept: 'application/json' } })).status, 406);
    equal((await stage.send({ method: 'GET', headers: { Origin: 'https://evil.example' } })).status, 403);
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async (_none, id) => (await post(client.path, lookup(id))).status),
    );
    equal(statuses.filter((status) => status === 429).length, 8);
    client.leave();
  });

  it('cancels calls on request, and all calls when the client disconnects', async () => {
    let open = 0;
    await stage.start((_seen, response) => {
      open += 1;
      response.once('close', () => {
        open -= 1;
      });
    }, older);
    const client = await listen(stage);
    for (const id of [1, 2, 3]) await post(client.path, lookup(id));
    await until(() => open === 3);
    await post(client.path, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
    await until(() => open === 2);
    client.leave();
    await until(() => open === 0);
    await until(async () => (await post(client.path, lookup(4))).status === 404);
  });

  it('applies the timeout of its endpoint to calls', async () => {
    await stage.start(() => {}, { ...older, endpoint: { timeout: '50ms' } });
    const client = await listen(stage);
    await post(client.path, lookup(1));
    await until(() => client.messages.length === 1);
    equal(client.messages[0].result.isError, true);
    client.leave();
  });

  it('pings clients and disconnects those that do not answer', async () => {
    await stage.start(json({}), { server: { sse_transport: true, ping_period: '500ms' } });
    const client = await listen(stage);
    let answered = 0;
    await until(async () => {
      for (const { id } of client.messages.slice(answered)) {
        await post(client.path, { jsonrpc: '2.0', id, result: {} });
        answered += 1;
      }
      return answered > 1;
    });
    await client.ended;
    equal((await post(client.path, lookup(1))).status, 404);
  });

  it('works on the same path as the current transport', async () => {
    await stage.start(json({}), older);
    const session = await stage.initialize();
    equal((await stage.ask('tools/list', undefined, session)).status, 200);
    equal((await stage.ask('tools/list')).status, 400);
    equal((await stage.send({ method: 'GET', headers: { 'Mcp-Session-Id': 'x' } })).status, 404);
  });

  it('is unavailable unless it is enabled', async () => {
    await stage.start(json({}));
    equal((await stage.send({ method: 'GET' })).status, 400);
    const session = (await stage.initialize())['Mcp-Session-Id'];
    equal((await post(`/mcp?session_id=${session}`, lookup(1))).status, 400);
  });

  it('cannot be combined with the setting "stateless"', async () => {
    const server = { stateless: true, sse_transport: true };
    await rejects(startGateway(configOf('http://127.0.0.1:1', { server })), /sse_transport {2}MCP_STATELESS/);
  });

  it('ends its streams cleanly when the gateway closes', async () => {
    await stage.start(json({}), older);
    const client = await listen(stage);
    await stage.gateway.close();
    await client.ended;
  });

  it('delivers results to the stream, regardless of the worker that receives the message', async function () {
    // The time limit is raised, because worker processes start slowly on a busy machine.
    this.timeout(120_000);
    const program = bundledProgram();
    await stage.start(json({ name: 'Spain' }), older, { workers: { count: 2, program, args: [] } });
    const client = await listen(stage);
    for (let id = 0; id < 6; id++) equal((await post(client.path, lookup(id), { Connection: 'close' })).status, 202);
    await until(() => client.messages.length === 6);
    deepEqual(client.messages.map(({ id }) => id).sort(), [0, 1, 2, 3, 4, 5]);
    client.leave();
    await until(async () => (await post(client.path, lookup(7), { Connection: 'close' })).status === 404);
  });

  it('closes the stream of a client that does not read its results', async () => {
    const stream = new ClientStream(0, async () => 'session');
    let over = 0;
    stream.over = () => {
      over += 1;
    };
    const event = `event: message\ndata: ${'x'.repeat(1024 * 1024)}\n\n`;
    for (let at = 0; at < 4; at++) stream.send(event);
    equal(over, 0);
    stream.send(event);
    stream.send(event);
    stream.end();
    equal(over, 1);
    await rejects(async () => stream.body.collect(64 * 1024 * 1024), /does not read/);
  });
});
