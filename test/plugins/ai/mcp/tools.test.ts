import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { until } from '../../../support/conditions.ts';
import { json } from '../../../support/gateway.ts';
import { Stage, type Written } from './setup.ts';

describe('a call of an MCP tool', () => {
  let stage: Stage;
  const stateless = { server: { stateless: true, json_response: true } };
  const anything = { input_schema: undefined };
  const start = (respond: Parameters<Stage['start']>[0], written: Written = {}) =>
    stage.start(respond, { ...stateless, ...written });

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.close());

  it('sends its arguments to the backend: in the path, and all of them as a JSON body', async () => {
    await start(json({ name: 'Spain' }), { backend: { method: 'POST' } });
    const { message } = await stage.call({ code: 'ES' });
    deepEqual(message.result, { content: [{ type: 'text', text: '{"name":"Spain"}' }] });
    const [seen] = stage.backend.requests;
    equal(seen!.target, '/__t/ES');
    equal(seen!.body.toString(), '{"code":"ES"}');
    equal(seen!.headers['content-type'], 'application/json');
  });

  it('escapes arguments in the path, so that they cannot leave their path segment', async () => {
    await start(json({}), { tool: anything });
    for (const code of ['a/b', '..', 'x?y=1#z', 'ü %', '%2e%2e']) await stage.call({ code });
    deepEqual(
      stage.backend.requests.map(({ target }) => target),
      ['/__t/a%2Fb', '/__t/x%3Fy=1%23z', '/__t/%C3%BC%20%25', '/__t/%252e%252e'],
    );
  });

  it('passes only scalar arguments as path and query parameters, whose names begin with a capital letter', async () => {
    await start(json({}), {
      tool: anything,
      workflow: { endpoint: '/{name}/{count}/{isOpen}' },
      backend: { url_pattern: '/{name}/{count}/{isOpen}', input_query_strings: ['count', 'list'] },
    });
    await stage.call({ name: 'ada', count: 7, isOpen: true, list: [1], nothing: null });
    equal(stage.backend.requests[0]!.target, '/ada/7/true?count=7');
    const { message } = await stage.call({ name: ['ada'], count: 7, isOpen: true });
    equal(message.result.isError, true);
  });

  it('passes a query parameter only to backends whose input_query_strings list it', async () => {
    await start(json({}), {
      tool: anything,
      workflow: { endpoint: '/{count}' },
      backends: [
        { url_pattern: '/lists', input_query_strings: ['count'] },
        { url_pattern: '/other', input_query_strings: ['name'] },
        '/none',
      ],
    });
    await stage.call({ count: 7, name: 'ada', secret: 'x' });
    deepEqual(
      stage.backend.requests.map(({ target }) => target),
      ['/lists?count=7', '/other?name=ada', '/none'],
    );
  });

  it('preserves numbers beyond the integer range of JavaScript', async () => {
    await start(json({}), {
      tool: { input_schema: { type: 'object', properties: { code: { type: 'integer' } } } },
      backend: { method: 'POST' },
    });
    await stage.send({
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lookup","arguments":{"code":9007199254740993}}}',
    });
    equal(stage.backend.requests[0]!.target, '/__t/9007199254740993');
    equal(stage.backend.requests[0]!.body.toString(), '{"code":9007199254740993}');
  });

  it('forwards only the client headers that the tool lists', async () => {
    await start(json({}), { tool: { input_headers: ['X-Tenant'] } });
    await stage.call({ code: 'ES' }, { 'X-Tenant': 'a', Authorization: 'Bearer x', 'Mcp-Session-Id': 'y' });
    const { headers } = stage.backend.requests[0]!;
    deepEqual([headers['x-tenant'], headers['authorization'], headers['mcp-session-id']], ['a', undefined, undefined]);
    deepEqual([headers['x-forwarded-for'], headers['x-forwarded-host']], ['127.0.0.1', `127.0.0.1:${stage.port}`]);
  });

  it('does not let arguments replace path variables of the MCP endpoint', async () => {
    await start(json({}), {
      tool: anything,
      endpoint: { endpoint: '/{tenant}/mcp' },
      workflow: { endpoint: '/{tenant}' },
      backend: { url_pattern: '/of/{tenant}' },
    });
    await stage.send({
      path: '/red/mcp',
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'lookup', arguments: { tenant: 'blue' } } },
    });
    equal(stage.backend.requests[0]!.target, '/of/red');
  });

  it('explains invalid arguments to the model without calling a backend', async () => {
    await start(json({}));
    for (const [args, said] of [
      [{ code: 'es' }, /\/code must match pattern/],
      [{}, /must have required property 'code'/],
      [undefined, /must have required property 'code'/],
      [{ code: 7 }, /\/code must be string/],
    ] as const) {
      const { status, message } = await stage.call(args);
      equal(status, 200);
      equal(message.result.isError, true);
      match(message.result.content[0].text, said);
    }
    equal(stage.backend.requests.length, 0);
  });

  it('hides the reason of a failure by default', async () => {
    await start(json({}, 500));
    const { status, message } = await stage.call({ code: 'ES' });
    equal(status, 200);
    deepEqual(message.result, { content: [{ type: 'text', text: 'tool execution failed' }], isError: true });
    ok(stage.lines.some((line) => line.includes('[TOOL: lookup]')));
  });

  it('reports the reason of a failure if return_error_msg is set', async () => {
    await start(json({}, 500), { tool: { return_error_msg: true } });
    match((await stage.call({ code: 'ES' })).message.result.content[0].text, /500/);
  });

  it('succeeds if some of its backends respond', async () => {
    await start(({ target }, response) => json({ at: target }, target === '/b' ? 500 : 200)({} as never, response), {
      tool: { return_error_msg: true },
      backends: ['/a', '/b'],
    });
    const { result } = (await stage.call({ code: 'ES' })).message;
    deepEqual(result, { content: [{ type: 'text', text: '{"at":"/a"}' }] });
  });

  it('is canceled by the timeout of the workflow or the endpoint', async () => {
    const endpoint = { timeout: '60s' };
    await start(() => {}, { workflow: { timeout: '30ms' }, endpoint, tool: { return_error_msg: true } });
    equal((await stage.call({ code: 'ES' })).message.result.isError, true);
  });

  it("uses the endpoint's timeout if the workflow sets no shorter one", async () => {
    await start((_seen, response) => void setTimeout(() => json({ late: true })({} as never, response), 40), {
      root: { timeout: '10ms' },
      endpoint: { timeout: '20s' },
    });
    equal((await stage.call({ code: 'ES' })).message.result.content[0].text, '{"late":true}');
  });

  it('is canceled when the client disconnects', async () => {
    let gone = false;
    await start(
      (_seen, response) =>
        void response.once('close', () => {
          gone = true;
        }),
    );
    const leaving = new AbortController();
    const call = stage.ask('tools/call', { name: 'lookup', arguments: { code: 'ES' } }, {}, leaving.signal);
    await until(() => stage.backend.requests.length === 1);
    leaving.abort();
    await call.catch(() => {});
    await until(() => gone);
  });

  it('returns structured content if the tool has an output schema', async () => {
    await start(json({ name: 'Spain' }), { tool: { output_schema: { type: 'object', required: ['name'] } } });
    const { message } = await stage.call({ code: 'ES' });
    deepEqual(message.result, {
      content: [{ type: 'text', text: '{"name":"Spain"}' }],
      structuredContent: { name: 'Spain' },
    });
    equal((await stage.ask('tools/list')).message.result.tools[0].outputSchema.required[0], 'name');
  });

  it('fails if its result violates the output schema', async () => {
    await start(json({ other: 1 }), { tool: { output_schema: { required: ['name'] }, return_error_msg: true } });
    const { message } = await stage.call({ code: 'ES' });
    deepEqual(message.result, {
      content: [{ type: 'text', text: 'the result of the tool does not match its output schema' }],
      isError: true,
    });
    ok(stage.lines.some((line) => line.includes('ERROR') && line.includes("required property 'name'")));
  });

  it("returns text unchanged, and other data in the workflow's encoding", async () => {
    await start((_seen, response) => void response.end('plain <text>'), {
      workflow: { output_encoding: 'string' },
      backend: { encoding: 'string' },
    });
    equal((await stage.call({ code: 'ES' })).message.result.content[0].text, 'plain <text>');
  });

  for (const type of ['image', 'audio', 'text'] as const) {
    it(`of type ${type} returns the body of a no-op workflow`, async () => {
      const bytes = Buffer.from(type === 'text' ? 'plain' : [0, 255, 254]);
      await start((_seen, response) => void response.writeHead(200, { 'Content-Type': `${type}/x` }).end(bytes), {
        tool: { type },
        workflow: { output_encoding: 'no-op' },
      });
      const { message } = await stage.call({ code: 'ES' });
      deepEqual(message.result.content, [
        type === 'text' ? { type, text: 'plain' } : { type, data: bytes.toString('base64'), mimeType: `${type}/x` },
      ]);
    });
  }

  it('of type binary returns the body of a no-op workflow as a resource', async () => {
    await start((_seen, response) => void response.writeHead(200, { 'Content-Type': 'application/zip' }).end('PK'), {
      tool: { type: 'binary' },
      workflow: { output_encoding: 'no-op' },
    });
    const { message } = await stage.call({ code: 'ES' });
    deepEqual(message.result.content, [
      { type: 'resource', resource: { uri: 'tool:///lookup', mimeType: 'application/zip', blob: 'UEs=' } },
    ]);
  });

  it('fails if the backend of a no-op workflow responds with an error', async () => {
    await start((_seen, response) => void response.writeHead(404).end('no'), {
      tool: { type: 'image', return_error_msg: true },
      workflow: { output_encoding: 'no-op' },
    });
    const { result } = (await stage.call({ code: 'ES' })).message;
    deepEqual([result.isError, result.content[0].type], [true, 'text']);
    match(result.content[0].text, /404/);
  });

  it('runs the components of its endpoint and of its workflow', async () => {
    await start(json({ name: 'Spain' }), {
      extra: { 'qos/ratelimit/router': { max_rate: 1, capacity: 2, every: '1h' } },
      workflow: {
        endpoint: '/{code}',
        extra_config: { 'security/policies': { req: { policies: ["req_params.Code != 'XX'"] } } },
      },
      tool: anything,
    });
    equal((await stage.call({ code: 'XX' })).message.result.isError, true);
    equal((await stage.call({ code: 'ES' })).message.result.isError, undefined);
    equal((await stage.call({ code: 'ES' })).status, 503);
    equal(stage.backend.requests.length, 1);
  });
});
