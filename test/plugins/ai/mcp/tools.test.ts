import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { until } from '../../../support/conditions.ts';
import { json } from '../../../support/gateway.ts';
import { Stage, type Written } from './setup.ts';

describe('a call of a tool', () => {
  let stage: Stage;
  const stateless = { server: { stateless: true, json_response: true } };
  const anything = { input_schema: undefined };
  const start = (respond: Parameters<Stage['start']>[0], written: Written = {}) =>
    stage.start(respond, { ...stateless, ...written });

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.close());

  it('sends its arguments to the backend: in the path, and all of them as JSON', async () => {
    await start(json({ name: 'Spain' }), { backend: { method: 'POST' } });
    const { message } = await stage.call({ code: 'ES' });
    deepEqual(message.result, { content: [{ type: 'text', text: '{"name":"Spain"}' }] });
    const [seen] = stage.backend.requests;
    equal(seen!.target, '/__t/ES');
    equal(seen!.body.toString(), '{"code":"ES"}');
    equal(seen!.headers['content-type'], 'application/json');
  });

  it('encodes arguments in a path, which they cannot leave', async () => {
    await start(json({}), { tool: anything });
    for (const code of ['a/b', '..', 'x?y=1#z', 'ü %', '%2e%2e']) await stage.call({ code });
    deepEqual(
      stage.backend.requests.map(({ target }) => target),
      ['/__t/a%2Fb', '/__t/x%3Fy=1%23z', '/__t/%C3%BC%20%25', '/__t/%252e%252e'],
    );
  });

  it('gives single values as parameters, by their names with the first letter in upper case, and nothing else', async () => {
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

  it('is a query for those backends that list it, and no other', async () => {
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

  it('keeps numbers beyond those of JavaScript', async () => {
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

  it('forwards the headers that it lists, and no other of the client', async () => {
    await start(json({}), { tool: { input_headers: ['X-Tenant'] } });
    await stage.call({ code: 'ES' }, { 'X-Tenant': 'a', Authorization: 'Bearer x', 'Mcp-Session-Id': 'y' });
    const { headers } = stage.backend.requests[0]!;
    deepEqual([headers['x-tenant'], headers['authorization'], headers['mcp-session-id']], ['a', undefined, undefined]);
    deepEqual([headers['x-forwarded-for'], headers['x-forwarded-host']], ['127.0.0.1', `127.0.0.1:${stage.port}`]);
  });

  it('lets no argument pass for a variable of the path of its endpoint', async () => {
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

  it('tells the model what is wrong with its arguments, and asks no backend', async () => {
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

  it('does not say why it failed, unless it is to', async () => {
    await start(json({}, 500));
    const { status, message } = await stage.call({ code: 'ES' });
    equal(status, 200);
    deepEqual(message.result, { content: [{ type: 'text', text: 'tool execution failed' }], isError: true });
    ok(stage.lines.some((line) => line.includes('[TOOL: lookup]')));
  });

  it('says why it failed where it is to', async () => {
    await start(json({}, 500), { tool: { return_error_msg: true } });
    match((await stage.call({ code: 'ES' })).message.result.content[0].text, /500/);
  });

  it('is a success where some of its backends have answered', async () => {
    await start(({ target }, response) => json({ at: target }, target === '/b' ? 500 : 200)({} as never, response), {
      tool: { return_error_msg: true },
      backends: ['/a', '/b'],
    });
    const { result } = (await stage.call({ code: 'ES' })).message;
    deepEqual(result, { content: [{ type: 'text', text: '{"at":"/a"}' }] });
  });

  it("ends with its own timeout, or with the endpoint's", async () => {
    const endpoint = { timeout: '60s' };
    await start(() => {}, { workflow: { timeout: '30ms' }, endpoint, tool: { return_error_msg: true } });
    equal((await stage.call({ code: 'ES' })).message.result.isError, true);
  });

  it('has the time of its endpoint where nothing shorter is written', async () => {
    await start((_seen, response) => void setTimeout(() => json({ late: true })({} as never, response), 40), {
      root: { timeout: '10ms' },
      endpoint: { timeout: '20s' },
    });
    equal((await stage.call({ code: 'ES' })).message.result.content[0].text, '{"late":true}');
  });

  it('is given up when its client leaves', async () => {
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

  it('is data, too, where a schema says of what form', async () => {
    await start(json({ name: 'Spain' }), { tool: { output_schema: { type: 'object', required: ['name'] } } });
    const { message } = await stage.call({ code: 'ES' });
    deepEqual(message.result, {
      content: [{ type: 'text', text: '{"name":"Spain"}' }],
      structuredContent: { name: 'Spain' },
    });
    equal((await stage.ask('tools/list')).message.result.tools[0].outputSchema.required[0], 'name');
  });

  it('whose result violates its schema has failed', async () => {
    await start(json({ other: 1 }), { tool: { output_schema: { required: ['name'] }, return_error_msg: true } });
    const { message } = await stage.call({ code: 'ES' });
    deepEqual(message.result, {
      content: [{ type: 'text', text: 'the result of the tool does not match its output schema' }],
      isError: true,
    });
    ok(stage.lines.some((line) => line.includes('ERROR') && line.includes("required property 'name'")));
  });

  it('gives text as it is, and other encodings of the data', async () => {
    await start((_seen, response) => void response.end('plain <text>'), {
      workflow: { output_encoding: 'string' },
      backend: { encoding: 'string' },
    });
    equal((await stage.call({ code: 'ES' })).message.result.content[0].text, 'plain <text>');
  });

  for (const type of ['image', 'audio', 'text'] as const) {
    it(`of the type ${type} gives the body of a no-op workflow`, async () => {
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

  it('of bytes has failed when the backend says so', async () => {
    await start((_seen, response) => void response.writeHead(404).end('no'), {
      tool: { type: 'image', return_error_msg: true },
      workflow: { output_encoding: 'no-op' },
    });
    const { result } = (await stage.call({ code: 'ES' })).message;
    deepEqual([result.isError, result.content[0].type], [true, 'text']);
    match(result.content[0].text, /404/);
  });

  it('passes the components of its endpoint and of its workflow', async () => {
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
