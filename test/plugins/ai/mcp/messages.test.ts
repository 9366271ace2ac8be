import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { json } from '../../../support/gateway.ts';
import { modern, Stage } from './setup.ts';

describe('an MCP server without sessions', () => {
  const stage = new Stage();

  before(() =>
    stage.start(json({ name: 'Spain' }), {
      server: { stateless: true, instructions: 'Ask in capitals.' },
      tool: { annotations: { read_only_hint: true } },
      tools: [
        {
          name: 'region',
          title: 'Region',
          description: 'A region.',
          input_schema: {
            type: 'object',
            properties: {
              region: { type: 'string', 'x-mcp-header': 'Region' },
              size: { type: 'integer', 'x-mcp-header': 'Size' },
            },
          },
          workflow: {
            endpoint: '/{region}',
            backend: [{ url_pattern: '/r', host: ['http://127.0.0.1:1'] }],
            timeout: '1s',
          },
        },
      ],
      endpoint: { timeout: '3s' },
    }),
  );
  after(() => stage.close());

  it('lists its tools in order, even without an Accept header', async () => {
    const { status, message } = await stage.ask('tools/list');
    equal(status, 200);
    equal(message.id, 1);
    deepEqual(message.result.tools[0], {
      name: 'lookup',
      title: 'Lookup',
      description: 'Looks a country up.',
      inputSchema: {
        type: 'object',
        required: ['code'],
        properties: { code: { type: 'string', pattern: '^[A-Z]{2}$' } },
      },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    });
    deepEqual(Object.keys(message.result.tools[1]), ['name', 'title', 'description', 'inputSchema']);
    equal(message.result.tools.length, 2);
  });

  it('rejects a pagination cursor, because it never issues one', async () => {
    equal((await stage.ask('tools/list', { cursor: 'x' })).message.error.code, -32602);
  });

  it("accepts a supported protocol version in the handshake, and offers the newest one if the client's version is not supported", async () => {
    for (const [asked, agreed] of [
      ['2025-03-26', '2025-03-26'],
      ['2025-06-18', '2025-06-18'],
      ['2025-11-25', '2025-11-25'],
      ['2026-07-28', '2025-11-25'],
      ['1999-01-01', '2025-11-25'],
    ]) {
      const { message, headers } = await stage.ask('initialize', { protocolVersion: asked, capabilities: {} });
      deepEqual(message.result, {
        protocolVersion: agreed,
        capabilities: { tools: { listChanged: false } },
        serverInfo: { name: 'countries', title: 'Countries', version: '1.2.0' },
        instructions: 'Ask in capitals.',
      });
      equal(headers.get('mcp-session-id'), null);
    }
    equal((await stage.ask('initialize', {})).message.error.code, -32602);
  });

  it('answers pings, and responds to notifications and responses with 202 and no body', async () => {
    deepEqual((await stage.ask('ping')).message.result, {});
    const silent = [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      { jsonrpc: '2.0', id: 'x', result: {} },
      modern('notifications/anything').body,
    ].map((message) => ({ ...(message as object) }));
    delete (silent[3] as { id?: number }).id;
    for (const body of silent) {
      const { status, text } = await stage.send({ body });
      deepEqual([status, text], [202, '']);
    }
  });

  it('responds to an invalid message with the error that JSON-RPC defines', async () => {
    const tried: [unknown, number, number, unknown][] = [
      ['{', 400, -32700, null],
      ['', 400, -32700, null],
      ['null', 400, -32600, null],
      ['[]', 400, -32600, null],
      [[{ jsonrpc: '2.0', id: 1, method: 'ping' }], 400, -32600, null],
      [{ id: 1, method: 'ping' }, 400, -32600, null],
      [{ jsonrpc: '1.0', id: 1, method: 'ping' }, 400, -32600, null],
      [{ jsonrpc: '2.0', id: null, method: 'ping' }, 400, -32600, null],
      [{ jsonrpc: '2.0', id: {}, method: 'ping' }, 400, -32600, null],
      [{ jsonrpc: '2.0', id: 1 }, 400, -32600, null],
      [{ jsonrpc: '2.0', id: 1, method: 7 }, 400, -32600, null],
      [{ jsonrpc: '2.0', id: 7, method: 'resources/list' }, 200, -32601, 7],
      [{ jsonrpc: '2.0', id: 7, method: '__proto__' }, 200, -32601, 7],
      [{ jsonrpc: '2.0', id: 'a', method: 'tools/list', params: [] }, 200, -32602, 'a'],
      [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'none' } }, 200, -32602, 1],
      [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: '__proto__' } }, 200, -32602, 1],
      [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }, 200, -32602, 1],
      [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'lookup', arguments: [] } }, 200, -32602, 1],
    ];
    for (const [body, status, code, id] of tried) {
      const got = await stage.send({ body });
      deepEqual([got.status, got.message.error.code, got.message.id], [status, code, id], JSON.stringify(body));
    }
  });

  it('preserves message IDs beyond the integer range of JavaScript', async () => {
    const { text } = await stage.send({ body: '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}' });
    match(text, /"id":9007199254740993,/);
  });

  it('responds with an event stream by default, and with JSON or 406 according to the Accept header', async () => {
    const asked = async (accept?: string) => {
      const { status, headers, text } = await stage.ask('ping', undefined, accept ? { Accept: accept } : {});
      return [status, headers.get('content-type'), text.startsWith('event: message\ndata: {"jsonrpc":"2.0"')];
    };
    const events = [200, 'text/event-stream', true];
    deepEqual(await asked(), events);
    deepEqual(await asked('application/json, text/event-stream'), events);
    deepEqual(await asked('text/*;q=0.1, application/json'), events);
    deepEqual(await asked('application/json'), [200, 'application/json', false]);
    deepEqual(await asked('application/json, text/event-stream;q=0'), [200, 'application/json', false]);
    equal((await asked('text/html'))[0], 406);
    const { headers } = await stage.ask('ping');
    equal(headers.get('x-accel-buffering'), 'no');
  });

  it('rejects other content types, and methods that the endpoint does not serve', async () => {
    equal((await stage.send({ body: '{}', headers: { 'Content-Type': 'text/plain' } })).status, 415);
    equal((await stage.send({ method: 'GET' })).status, 405);
    equal((await stage.send({ method: 'DELETE' })).status, 405);
  });

  it('rejects browser requests from other origins', async () => {
    const from = async (origin: string) => (await stage.ask('ping', undefined, { Origin: origin })).status;
    equal(await from('https://evil.example'), 403);
    equal(await from('null'), 403);
    equal(await from('nonsense'), 403);
    equal(await from(`http://127.0.0.1:${stage.port}`), 200);
    equal(await from(`http://127.0.0.1:${stage.port + 1}`), 403);
  });

  it('rejects an unsupported MCP-Protocol-Version header, and one that differs from the version in the message', async () => {
    const said = async (version: string) => {
      const { status, message } = await stage.ask('ping', undefined, { 'MCP-Protocol-Version': version });
      return [status, message.error?.code];
    };
    deepEqual(await said('2025-06-18'), [200, undefined]);
    deepEqual(await said('1900-01-01'), [400, -32022]);
    deepEqual(await said('2026-07-28'), [400, -32020]);
  });

  describe('in the protocol revision without handshakes', () => {
    it('describes its capabilities', async () => {
      const { status, message } = await stage.send(modern('server/discover'));
      equal(status, 200);
      const { supportedVersions, ...rest } = message.result;
      ok(supportedVersions.includes('2026-07-28') && supportedVersions.includes('2025-03-26'));
      deepEqual(rest, {
        capabilities: { tools: { listChanged: false } },
        instructions: 'Ask in capitals.',
        ttlMs: 60_000,
        cacheScope: 'public',
        resultType: 'complete',
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'countries', title: 'Countries', version: '1.2.0' } },
      });
    });

    it('lists tools with a cache lifetime, and calls them', async () => {
      const list = await stage.send(modern('tools/list'));
      deepEqual(
        [list.message.result.ttlMs, list.message.result.resultType, list.message.result.tools.length],
        [60_000, 'complete', 2],
      );
      const { message } = await stage.send(modern('tools/call', { name: 'lookup', arguments: { code: 'ES' } }));
      deepEqual(message.result.content, [{ type: 'text', text: '{"name":"Spain"}' }]);
      equal(message.result.resultType, 'complete');
    });

    it('requires headers that match the content of the message', async () => {
      const call = modern('tools/call', { name: 'lookup', arguments: { code: 'ES' } });
      const without = (name: string) =>
        Object.fromEntries(Object.entries(call.headers!).filter(([key]) => key !== name));
      const tried: [Record<string, string>, number | undefined][] = [
        [{ ...call.headers, 'Mcp-Name': 'other' }, -32020],
        [{ ...call.headers, 'Mcp-Name': 'LOOKUP' }, -32020],
        [{ ...call.headers, 'Mcp-Name': '=?base64?bG9va3Vw?=' }, undefined],
        [{ ...call.headers, 'Mcp-Name': '=?base64?!?=' }, -32020],
        [{ ...call.headers, 'Mcp-Name': '=?base64?/w==?=' }, -32020],
        [{ ...call.headers, 'Mcp-Method': 'tools/list' }, -32020],
        [{ ...call.headers, 'MCP-Protocol-Version': '2025-11-25' }, -32020],
        [without('Mcp-Name'), -32020],
        [without('Mcp-Method'), -32020],
        [without('MCP-Protocol-Version'), -32020],
      ];
      for (const [headers, code] of tried) {
        const { status, message } = await stage.send({ ...call, headers });
        deepEqual([status, message.error?.code], [code ? 400 : 200, code], JSON.stringify(headers));
      }
    });

    it('requires a header for each argument with x-mcp-header', async () => {
      const call = async (args: object, headers: Record<string, string>) => {
        const sent = modern('tools/call', { name: 'region', arguments: args });
        const { status, message } = await stage.send({ ...sent, headers: { ...sent.headers, ...headers } });
        return [status, message.error?.code];
      };
      deepEqual(await call({ region: 'eu' }, { 'mcp-param-region': 'eu' }), [200, undefined]);
      deepEqual(await call({ region: 'eu' }, { 'Mcp-Param-Region': '=?base64?ZXU=?=' }), [200, undefined]);
      deepEqual(await call({ region: 'eu' }, { 'Mcp-Param-Region': 'EU' }), [400, -32020]);
      deepEqual(await call({ region: 'eu' }, {}), [400, -32020]);
      deepEqual(await call({ size: 42 }, { 'Mcp-Param-Size': '42.0' }), [200, undefined]);
      deepEqual(await call({ size: 42 }, { 'Mcp-Param-Size': '43' }), [400, -32020]);
      deepEqual(await call({}, {}), [200, undefined]);
    });

    it('lists its supported versions for a client that requests another one', async () => {
      const { status, message } = await stage.send(modern('tools/list', {}, { version: '1900-01-01' }));
      deepEqual(
        [status, message.error.code, message.error.data],
        [400, -32022, { supported: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'], requested: '1900-01-01' }],
      );
    });

    it('responds to handshakes and subscriptions with 404', async () => {
      for (const method of ['initialize', 'ping', 'subscriptions/listen', 'resources/list']) {
        const { status, message } = await stage.send(modern(method));
        deepEqual([status, message.error.code], [404, -32601], method);
      }
    });

    it('requires the client to state its capabilities', async () => {
      const { status, message } = await stage.send(
        modern('tools/list', {}, { meta: { 'io.modelcontextprotocol/clientCapabilities': undefined } }),
      );
      deepEqual([status, message.error.code], [400, -32602]);
    });

    it('ignores session headers', async () => {
      const sent = modern('tools/list');
      const { status } = await stage.send({
        ...sent,
        headers: { ...sent.headers, 'Mcp-Session-Id': 'x', 'Last-Event-ID': '1' },
      });
      equal(status, 200);
    });
  });
});
