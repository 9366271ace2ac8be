import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { HeaderBag, makeRequest } from '#contract';
import { Callers } from '../../../../plugins/ai/mcp/remote/callers.ts';
import { until } from '../../../support/conditions.ts';
import { type Answering, json, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { configOf, modern, Stage } from './setup.ts';

const named = (name: string, more: object = {}) => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  ...more,
});

/** An upstream server that answers with JSON: `reply` returns the result or error of a request. */
function scripted(reply: (method: string, params: Record<string, unknown>) => object | null): Answering {
  return ({ body }, response) => {
    const { id, method, params } = JSON.parse(body.toString());
    const message = method === 'initialize' ? { result: { protocolVersion: '2025-11-25' } } : reply(method, params);
    if (message === null) return;
    response.writeHead(id === undefined ? 202 : 200, { 'Content-Type': 'application/json' });
    response.end(id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, ...message }));
  };
}

const tools = (...names: string[]) => ({ result: { tools: names.map((name) => named(name)) } });
const said = (text: string) => ({ result: { content: [{ type: 'text', text }] } });

describe('an MCP server with upstream servers', () => {
  let stage: Stage;
  let upstream: TestBackend | null = null;
  let other: Stage | null = null;

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(async () => {
    await stage.close();
    await upstream?.close();
    await other?.close();
    upstream = other = null;
  });

  const start = (url: string, more: object = {}, written: object = {}) =>
    stage.start(json({}), {
      server: { stateless: true, json_response: true, upstreams: [{ name: 'far', url, ...more }] },
      ...written,
    });
  const scriptedAt = async (reply: Parameters<typeof scripted>[0]) => {
    upstream = await startBackend(scripted(reply));
    return `${upstream.url}/mcp`;
  };
  const names = async (headers?: Record<string, string>): Promise<string[]> =>
    (await stage.ask('tools/list', {}, headers)).message.result.tools.map(({ name }: { name: string }) => name);
  const methods = () => upstream!.requests.map(({ body }) => JSON.parse(body.toString()).method);

  for (const stateless of [true, false]) {
    for (const jsonResponse of [true, false]) {
      it(`offers the tools of another gateway ${stateless ? 'without' : 'with'} sessions, over ${jsonResponse ? 'JSON' : 'events'}`, async () => {
        other = new Stage();
        await other.start(json({ name: 'Spain' }), { server: { stateless, json_response: jsonResponse } });
        await start(other.url);
        deepEqual(await names(), ['lookup', 'far_lookup']);
        const { result } = (await stage.call({ code: 'ES' }, {}, 'far_lookup')).message;
        deepEqual(result, { content: [{ type: 'text', text: '{"name":"Spain"}' }] });
        const wrong = (await stage.call({ code: 'x' }, {}, 'far_lookup')).message.result;
        equal(wrong.isError, true);
        match(wrong.content[0].text, /do not match the schema/);
        const { headers, body } = modern('tools/call', { name: 'far_lookup', arguments: { code: 'FR' } });
        equal((await stage.send({ headers: headers!, body })).message.result.isError, undefined);
      });
    }
  }

  it('offers the tools of a server built with the official SDK', async () => {
    const server = createServer((request, response) => {
      const mcp = new Server({ name: 'sdk', version: '1' }, { capabilities: { tools: {} } });
      mcp.setRequestHandler(ListToolsRequestSchema, () => ({
        tools: [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object' as const } }],
      }));
      mcp.setRequestHandler(CallToolRequestSchema, ({ params: { arguments: args } }) => {
        if (typeof args!['a'] !== 'number') throw new Error('a is not a number');
        return { content: [{ type: 'text', text: String(args!['a'] + (args!['b'] as number)) }] };
      });
      const transport = new StreamableHTTPServerTransport({});
      void mcp.connect(transport as never).then(() => transport.handleRequest(request, response));
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    try {
      await start(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      deepEqual(await names(), ['lookup', 'far_add']);
      const { result } = (await stage.call({ a: 1, b: 2 }, {}, 'far_add')).message;
      deepEqual(result.content, [{ type: 'text', text: '3' }]);
      equal((await stage.call({ a: 'x' }, {}, 'far_add')).message.result.isError, true);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('uses the revision without handshakes for servers that reject initialize, and repeats arguments in headers', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string', 'x-mcp-header': 'City' } } };
    upstream = await startBackend(({ body, headers }, response) => {
      const { id, method, params } = JSON.parse(body.toString());
      const version = params._meta?.['io.modelcontextprotocol/protocolVersion'];
      const isModern = version === '2026-07-28' && headers['mcp-method'] === method;
      response.writeHead(isModern ? 200 : 400, { 'Content-Type': 'application/json' });
      const result = method === 'tools/list' ? { tools: [named('t', { inputSchema: schema })] } : said('x').result;
      const error = { code: -32022, message: 'unsupported' };
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(isModern ? { result } : { error }) }));
    });
    await start(upstream.url);
    const result = (await stage.call({ city: 'Málaga' }, {}, 'far_t')).message.result;
    deepEqual(result.content, [{ type: 'text', text: 'x' }]);
    const { headers } = upstream.requests.at(-1)!;
    equal(headers['mcp-name'], 't');
    equal(headers['mcp-param-city'], `=?base64?${Buffer.from('Málaga').toString('base64')}?=`);
  });

  it('offers only the listed tools of an upstream server, with its prefix', async () => {
    const url = await scriptedAt(() => tools('read_a', 'read_b', 'write', 'drop', 'a b', '__proto__'));
    await start(url, { tools: ['read_*', 'write', 'a *', '__proto__'], prefix: 'x.' });
    deepEqual(await names(), ['lookup', 'x.read_a', 'x.read_b', 'x.write', 'x.__proto__']);
    const { error } = (await stage.call({}, {}, 'x.drop')).message;
    equal(error.code, -32602);
    equal(methods().includes('tools/call'), false);
  });

  it('sends the credentials and headers of the gateway, and forwards only the listed headers of callers', async () => {
    const url = await scriptedAt((method) => (method === 'tools/list' ? tools('t') : said('x')));
    await start(url, { credentials: 'secret', headers: { 'X-Key': 'k' }, forward_headers: ['X-User'] });
    const caller = { authorization: 'Bearer own', 'x-user': 'ada', cookie: 'a=b' };
    await stage.call({}, caller, 'far_t');
    for (const { headers } of upstream!.requests) {
      deepEqual(
        [headers['authorization'], headers['x-key'], headers['x-user'], headers['cookie']],
        ['Bearer secret', 'k', 'ada', undefined],
      );
    }
  });

  it('keeps separate lists and sessions for callers with different forwarded headers', async () => {
    upstream = await startBackend((request, response) => {
      const user = request.headers['authorization'] as string;
      scripted(() => tools(user))(request, response);
    });
    await start(upstream.url, { forward_headers: ['Authorization'] });
    deepEqual(await names({ authorization: 'ada' }), ['lookup', 'far_ada']);
    deepEqual(await names({ authorization: 'bob' }), ['lookup', 'far_bob']);
    deepEqual(await names({ authorization: 'ada' }), ['lookup', 'far_ada']);
    equal(methods().filter((method) => method === 'initialize').length, 2);
    const { message } = await stage.send(modern('tools/list'));
    equal(message.result.cacheScope, 'private');
  });

  it('shows and calls tools only for callers with the required claims', async () => {
    const url = await scriptedAt((method) => (method === 'tools/list' ? tools('read', 'drop') : said('x')));
    const rules = [{ claim: 'realm.roles', values: ['admin'], tools: ['dr*'] }];
    const key = { kty: 'oct', kid: 'k', alg: 'HS256', k: Buffer.from('s'.repeat(32)).toString('base64url') };
    const jwks = await startBackend(json({ keys: [key] }));
    try {
      await start(
        url,
        { require_claims: rules },
        {
          extra: { 'auth/validator': { alg: 'HS256', jwk_url: jwks.url, disable_jwk_security: true } },
        },
      );
      const bearer = async (claims: object) => {
        const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
        const text = `${part({ alg: 'HS256', kid: 'k' })}.${part(claims)}`;
        const { createHmac } = await import('node:crypto');
        return {
          authorization: `Bearer ${text}.${createHmac('sha256', 's'.repeat(32)).update(text).digest('base64url')}`,
        };
      };
      const admin = await bearer({ realm: { roles: ['admin'] } });
      const reader = await bearer({ realm: { roles: ['reader'] } });
      deepEqual(await names(admin), ['lookup', 'far_read', 'far_drop']);
      deepEqual(await names(reader), ['lookup', 'far_read']);
      equal((await stage.call({}, admin, 'far_drop')).message.result.isError, undefined);
      equal((await stage.call({}, reader, 'far_drop')).message.error.code, -32602);
      equal(methods().filter((method) => method === 'tools/call').length, 1);
    } finally {
      await jwks.close();
    }
  });

  it('limits the number of tools and the size of their descriptions, and logs once that tools are ignored', async () => {
    const url = await scriptedAt((_method, { cursor }) => {
      const at = cursor === undefined ? 0 : Number(cursor);
      return { result: { ...tools(`t${at}`, `u${at}`).result, nextCursor: String(at + 1) } };
    });
    await start(url, { max_tools: 5, list_ttl: '0s' });
    deepEqual(await names(), ['lookup', 'far_t0', 'far_u0', 'far_t1', 'far_u1', 'far_t2']);
    equal((await names()).length, 6);
    equal(stage.lines.filter((line) => line.includes('exceeds max_tools')).length, 1);
    await stage.gateway.reload(
      configOf(stage.backend.url, {
        server: { stateless: true, json_response: true, upstreams: [{ name: 'far', url, max_list_bytes: 150 }] },
      }),
    );
    deepEqual(await names(), ['lookup', 'far_t0', 'far_u0']);
  });

  it('omits the tools of an unavailable server and returns a tool error for calls of them, which is logged once', async () => {
    upstream = await startBackend((_request, response) => void response.writeHead(503).end());
    await start(upstream.url);
    deepEqual(await names(), ['lookup']);
    const { result } = (await stage.call({}, {}, 'far_t')).message;
    equal(result.isError, true);
    match(result.content[0].text, /unavailable/);
    equal((await stage.call({ code: 'ES' })).message.result.isError, undefined);
    equal(upstream.requests.length, 1);
    equal(stage.lines.filter((line) => line.includes('upstream server far is unavailable: status 503')).length, 1);
  });

  it('lists its own tools while an upstream server does not respond', async () => {
    const url = await scriptedAt(() => null);
    await start(url, {}, { endpoint: { timeout: '400ms' } });
    deepEqual(await names(), ['lookup']);
    equal((await stage.call({}, {}, 'far_t')).message.result.isError, true);
  });

  it('limits the time of a call, and tells the upstream server that the call was canceled', async () => {
    const url = await scriptedAt((method) => (method === 'tools/call' ? null : tools('t')));
    await start(url, { timeout: '200ms' });
    const { result } = (await stage.call({}, {}, 'far_t')).message;
    deepEqual(result, { content: [{ type: 'text', text: 'the tool did not respond in time' }], isError: true });
    await until(() => methods().at(-1) === 'notifications/cancelled');
    deepEqual(await names(), ['lookup', 'far_t']);
  });

  it('cancels the upstream call when the client disconnects', async () => {
    const url = await scriptedAt((method) => (method === 'tools/call' ? null : tools('t')));
    await start(url);
    const leave = new AbortController();
    const pending = stage.ask('tools/call', { name: 'far_t', arguments: {} }, {}, leave.signal);
    await until(() => methods().includes('tools/call'));
    leave.abort();
    await rejects(pending);
    await until(() => methods().includes('notifications/cancelled'));
  });

  it('begins a new session after the upstream server has ended the old one', async () => {
    let session = 0;
    upstream = await startBackend((request, response) => {
      const { id, method } = JSON.parse(request.body.toString());
      if (method === 'initialize') session++;
      else if (request.headers['mcp-session-id'] !== `s${session}`) return void response.writeHead(404).end();
      const result =
        method === 'initialize'
          ? { protocolVersion: '2025-06-18' }
          : method === 'tools/list'
            ? tools('t').result
            : said('x').result;
      response.writeHead(200, { 'Content-Type': 'application/json', 'Mcp-Session-Id': `s${session}` });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    await start(upstream.url);
    deepEqual(await names(), ['lookup', 'far_t']);
    session = 7;
    equal((await stage.call({}, {}, 'far_t')).message.result.isError, undefined);
    equal(upstream.requests.at(-1)!.headers['mcp-session-id'], 's8');
    equal(upstream.requests.at(-1)!.headers['mcp-protocol-version'], '2025-06-18');
  });

  describe('with sessions', () => {
    let ended: (string | undefined)[];
    /** Response to the end of a session; null for none. */
    let farewell: number | null;

    beforeEach(async () => {
      ended = [];
      farewell = 200;
      let sessions = 0;
      upstream = await startBackend((request, response) => {
        const session = request.headers['mcp-session-id'];
        if (request.method === 'DELETE') {
          ended.push(session as string);
          if (farewell !== null) response.writeHead(farewell).end();
          return;
        }
        if (session === undefined) response.setHeader('Mcp-Session-Id', `s${++sessions}`);
        scripted(() => tools('t'))(request, response);
      });
    });
    const replace = () =>
      stage.gateway.reload(configOf(stage.backend.url, { server: { stateless: true, json_response: true } }));

    it('ends its session when the configuration is replaced', async () => {
      await start(upstream!.url);
      await names();
      await replace();
      await until(() => ended.length > 0);
      deepEqual(ended, ['s1']);
    });

    for (const [title, status] of [
      ['does not let clients end sessions', 405],
      ['does not respond to the end of a session', null],
    ] as const) {
      it(`replaces the configuration if the server ${title}`, async () => {
        farewell = status;
        await start(upstream!.url);
        await names();
        await replace();
        await until(() => ended.length > 0);
        deepEqual(await names(), ['lookup']);
      });
    }

    it('keeps its session and list over a reload that leaves it unchanged, and ends the session with the gateway', async () => {
      await start(upstream!.url);
      await names();
      const requests = upstream!.requests.length;
      const upstreams = [{ name: 'far', url: upstream!.url, timeout: '9s', rate_limits: [{ max_rate: 9 }] }];
      await stage.gateway.reload(
        configOf(stage.backend.url, { server: { stateless: true, json_response: true, upstreams } }),
      );
      deepEqual(await names(), ['lookup', 'far_t']);
      deepEqual([upstream!.requests.length, ended], [requests, []]);
      equal((await stage.call({}, {}, 'far_t')).message.result.isError, true);
      equal(upstream!.requests.at(-1)!.headers['mcp-session-id'], 's1');
      await stage.gateway.close();
      deepEqual(ended, ['s1']);
    });

    it('begins another session after a reload that changes the credentials of the gateway', async () => {
      await start(upstream!.url, { credentials: 'before' });
      await names();
      const upstreams = [{ name: 'far', url: upstream!.url, credentials: 'after' }];
      await stage.gateway.reload(
        configOf(stage.backend.url, { server: { stateless: true, json_response: true, upstreams } }),
      );
      deepEqual(await names(), ['lookup', 'far_t']);
      await until(() => ended.length > 0);
      deepEqual(ended, ['s1']);
      const { authorization, 'mcp-session-id': session } = upstream!.requests.findLast(
        ({ method }) => method === 'POST',
      )!.headers;
      deepEqual([authorization, session], ['Bearer after', 's2']);
    });

    it('ends the sessions of all callers with forwarded headers', async () => {
      await start(upstream!.url, { forward_headers: ['X-User'] });
      for (let user = 0; user < 20; user++) await names({ 'x-user': String(user) });
      await replace();
      await until(() => ended.length === 20);
      equal(new Set(ended).size, 20);
    });
  });

  it('stays available if it rejects the headers of one caller, and logs nothing', async () => {
    upstream = await startBackend((request, response) => {
      if (request.headers['x-user'] === 'eve') return void response.writeHead(401).end();
      scripted((method) => (method === 'tools/call' ? said('x') : tools('t')))(request, response);
    });
    await start(upstream.url, { forward_headers: ['X-User'] });
    for (const user of ['ada', 'eve', 'ada']) {
      deepEqual(await names({ 'x-user': user }), user === 'eve' ? ['lookup'] : ['lookup', 'far_t']);
    }
    deepEqual(
      stage.lines.filter((line) => line.includes('upstream server')),
      [],
    );
  });

  it('returns a tool error if it rejects the headers of a caller who has a list', async () => {
    upstream = await startBackend((request, response) => {
      const { method } = JSON.parse(request.body.toString());
      if (method === 'tools/call') return void response.writeHead(403).end();
      scripted(() => tools('t'))(request, response);
    });
    await start(upstream.url, { forward_headers: ['X-User'] });
    const { result } = (await stage.call({}, { 'x-user': 'ada' }, 'far_t')).message;
    deepEqual(
      [result.isError, result.content[0].text],
      [true, 'the server of the tool rejected the credentials of the caller'],
    );
    deepEqual(await names({ 'x-user': 'ada' }), ['lookup', 'far_t']);
  });

  it('requests the list of tools again after its lifetime, and when a response announces a change', async () => {
    let count = 0;
    upstream = await startBackend((request, response) => {
      const { id, method } = JSON.parse(request.body.toString());
      if (method !== 'tools/call') return scripted(() => tools(`t${++count}`))(request, response);
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      const change = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
      // Keeps the stream open after the response.
      for (const message of [change, { jsonrpc: '2.0', id, ...said('x') }]) {
        response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
      }
    });
    await start(upstream.url);
    const [, first] = await names();
    deepEqual(await names(), ['lookup', first]);
    equal((await stage.call({}, {}, first)).message.result.isError, undefined);
    deepEqual((await names()).length, 2);
    equal((await names())[1] === first, false);
    const shortly = { name: 'far', url: upstream.url, list_ttl: '0s' };
    await stage.gateway.reload(
      configOf(stage.backend.url, { server: { stateless: true, json_response: true, upstreams: [shortly] } }),
    );
    const [[, third], [, fourth]] = [await names(), await names()];
    equal(third === fourth, false);
  });

  describe('of which one announces changes in a stream', () => {
    let count: number;
    let streams: ServerResponse[];
    let offersStream: boolean;

    beforeEach(async () => {
      count = 0;
      streams = [];
      offersStream = true;
      upstream = await startBackend((request, response) => {
        if (request.method === 'GET') {
          if (!offersStream) return void response.writeHead(405).end();
          response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
          return void streams.push(response);
        }
        const { id, method } = JSON.parse(request.body.toString());
        if (method !== 'initialize')
          return scripted(() => tools(`t${method === 'tools/list' ? ++count : 0}`))(request, response);
        const result = { protocolVersion: '2025-06-18', capabilities: { tools: { listChanged: true } } };
        response.writeHead(200, { 'Content-Type': 'application/json', 'Mcp-Session-Id': 's1' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      });
    });

    const opened = (number: number) => until(() => streams.length === number);
    const requested = () => upstream!.requests.filter(({ method }) => method === 'GET');

    it('requests the list of tools again after an announcement, over one stream per session', async () => {
      await start(upstream!.url, { list_ttl: '1h' });
      deepEqual(await names(), ['lookup', 'far_t1']);
      await opened(1);
      deepEqual(await names(), ['lookup', 'far_t1']);
      const [{ headers }] = requested() as [TestBackend['requests'][number]];
      deepEqual([headers['mcp-session-id'], headers.accept], ['s1', 'text/event-stream']);
      const change = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
      streams[0]!.write(`data: x\n\ndata: ${JSON.stringify(change)}\n\n`);
      await until(async () => (await names())[1] === 'far_t2');
      equal(requested().length, 1);
    });

    it('opens a new stream with the next list after the server has ended the old stream', async () => {
      await start(upstream!.url, { list_ttl: '0s' });
      await names();
      await opened(1);
      streams[0]!.end();
      await until(async () => {
        await names();
        return streams.length === 2;
      });
    });

    it('does not request a stream again from a server that offers none', async () => {
      offersStream = false;
      await start(upstream!.url, { list_ttl: '0s' });
      await names();
      await until(() => requested().length === 1);
      await until(async () => (await names())[1] === 'far_t4');
      equal(requested().length, 1);
    });

    it('opens no stream if callers have separate lists', async () => {
      await start(upstream!.url, { list_ttl: '0s', forward_headers: ['X-User'] });
      await names();
      await names();
      equal(requested().length, 0);
    });

    it('opens one stream for each list, even if the server ends the streams', async () => {
      await start(upstream!.url);
      await names();
      await opened(1);
      for (const stream of streams) stream.end();
      for (let call = 0; call < 5; call++) equal((await stage.call({}, {}, 'far_t1')).message.result.isError, true);
      equal(requested().length, 1);
    });

    it('opens a new stream after a reload that leaves it unchanged', async () => {
      await start(upstream!.url);
      await names();
      await opened(1);
      const upstreams = [{ name: 'far', url: upstream!.url, timeout: '9s' }];
      await stage.gateway.reload(
        configOf(stage.backend.url, { server: { stateless: true, json_response: true, upstreams } }),
      );
      await until(async () => {
        await names();
        return requested().length === 2;
      });
      equal(count, 1);
    });

    it('ends the stream when the configuration is replaced', async () => {
      await start(upstream!.url);
      await names();
      await opened(1);
      const closed = once(streams[0]!, 'close');
      await stage.gateway.reload(configOf(stage.backend.url));
      await closed;
    });
  });

  it('returns a tool error for a hostile response from an upstream server', async () => {
    const answers: readonly (object | string)[] = [
      'x'.repeat(5 * 1024 * 1024),
      '['.repeat(10_000),
      '{"jsonrpc":"2.0","id":999,"result":{"content":[]}}',
      { result: { content: 'x' } },
      { result: { resultType: 'input_required', content: [] } },
      { error: { code: -32603, message: 'y'.repeat(5000) } },
    ];
    let at = 0;
    upstream = await startBackend((request, response) => {
      const { method } = JSON.parse(request.body.toString());
      const answer = method === 'tools/call' ? answers[at++]! : tools('t');
      if (typeof answer !== 'string') return scripted(() => answer)(request, response);
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(answer);
    });
    await start(upstream.url);
    for (const _each of answers) {
      const { result } = (await stage.call({}, {}, 'far_t')).message;
      equal(result.isError, true);
      equal(result.content[0].text.length <= 1000, true);
    }
  });

  it('rejects colliding prefixes, duplicate names, invalid URLs and headers that the gateway sets', async () => {
    const url = 'http://127.0.0.1:1/mcp';
    const refused = (upstreams: object[], message: RegExp) =>
      rejects(startGateway(configOf(url, { server: { upstreams } })), message);
    await refused(
      [
        { name: 'a', url },
        { name: 'a', url, prefix: 'b' },
      ],
      /MCP_DUPLICATE/,
    );
    await refused(
      [
        { name: 'a', url },
        { name: 'b', url, prefix: 'a_b_' },
      ],
      /MCP_PREFIX/,
    );
    await refused([{ name: 'a', url, prefix: 'look' }], /MCP_PREFIX/);
    await refused([{ name: 'a', url, prefix: '' }], /MCP_PREFIX/);
    for (const wrong of ['ftp://x', 'node server.js', 'http://user:secret@x/']) {
      await refused([{ name: 'a', url: wrong }], /MCP_UPSTREAM/);
    }
    for (const headers of ['Host', 'Mcp-Session-Id', 'Connection', 'a b', '*']) {
      await refused([{ name: 'a', url, forward_headers: [headers] }], /MCP_HEADER/);
    }
    await refused([{ name: 'a', url, credentials: 'x', forward_headers: ['authorization'] }], /MCP_HEADER/);
    await refused([{ name: 'a', url, tools: ['a*b*'] }], /tools/);
  });

  describe('with audiences', () => {
    const source = { tool_audience_source: { header_name: 'X-Role' } };
    const startFor = (upstreams: object[], server: object = source) =>
      stage.start(json({}), {
        server: { stateless: true, json_response: true, upstreams, ...server },
        tool: server === source ? { audiences: ['dev'] } : {},
      });
    const warnings = () =>
      stage.gateway.status.warnings
        .filter(({ pointer }) => pointer.includes('/upstreams/'))
        .map(({ code, pointer }) => [code, pointer.slice(pointer.indexOf('/upstreams/'))]);

    it('offers the tools of an upstream server only to its audiences', async () => {
      const url = await scriptedAt((method) => (method === 'tools/list' ? tools('a') : said('done')));
      await startFor([
        { name: 'far', url, audiences: ['dev', 'admin'] },
        { name: 'open', url, audiences: ['*'] },
        { name: 'none', url },
      ]);
      deepEqual(await names({ 'X-Role': 'dev' }), ['lookup', 'far_a', 'open_a']);
      deepEqual(await names({ 'X-Role': 'admin' }), ['far_a', 'open_a']);
      deepEqual(await names({ 'X-Role': 'x' }), ['open_a']);
      deepEqual(await names(), []);
      const sent = methods().length;
      const { message } = await stage.call({}, { 'X-Role': 'x' }, 'far_a');
      equal(message.error.code, (await stage.call({}, { 'X-Role': 'x' }, 'unknown')).message.error.code);
      equal(methods().length, sent);
      equal((await stage.call({}, { 'X-Role': 'admin' }, 'far_a')).message.result.content[0].text, 'done');
      deepEqual(warnings(), [['MCP_AUDIENCE', '/upstreams/2']]);
    });

    it('warns of audiences that have no effect', async () => {
      await startFor([{ name: 'far', url: 'http://127.0.0.1:1/mcp', audiences: ['dev'] }], {});
      deepEqual(warnings(), [['MCP_UNUSED', '/upstreams/0/audiences']]);
    });
  });
});

describe('the state of callers of an upstream MCP server', () => {
  const client = (user: number) => makeRequest({ headers: new HeaderBag(['X-User', String(user)]) });
  /** @param bytes size of each tool list. */
  const open = (bytes: number) => {
    const opened: string[] = [];
    const callers = new Callers(['X-User'], ([, user]) => {
      opened.push(user!);
      return { bytes, user };
    });
    const dropped = () => callers.takeDropped().map(({ user }) => user);
    return { callers, opened, dropped };
  };

  it('is kept for at most a thousand combinations of forwarded headers; beyond that the oldest is dropped', () => {
    const { callers, opened, dropped } = open(1);
    for (let user = 0; user <= 1000; user++) callers.of(client(user));
    equal(callers.size, 1000);
    callers.of(client(1));
    callers.of(client(0));
    deepEqual(opened.slice(1000), ['1000', '0']);
    deepEqual(dropped(), ['0', '2']);
  });

  it('is dropped while the tool lists of all callers take more than 64 MiB, the oldest first', () => {
    const { callers, dropped } = open(4 * 1024 * 1024);
    for (let user = 0; user < 16; user++) callers.of(client(user));
    deepEqual(dropped(), []);
    callers.of(client(0));
    callers.of(client(16));
    deepEqual([dropped(), callers.size], [['1'], 16]);
  });

  it('is dropped when lists that are read at the same time take more than 64 MiB, but the list of the last caller stays', () => {
    let bytes = 0;
    const callers = new Callers(['X-User'], () => ({
      get bytes() {
        return bytes;
      },
    }));
    for (let user = 0; user < 100; user++) callers.of(client(user));
    bytes = 1024 * 1024;
    callers.trim();
    equal(callers.size, 64);
    bytes = 65 * 1024 * 1024;
    callers.trim();
    equal(callers.size, 1);
  });
});
