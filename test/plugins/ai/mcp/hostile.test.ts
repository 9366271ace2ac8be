import { deepEqual, equal, ok } from 'node:assert/strict';
import { connect } from 'node:net';
import { makeRequest } from '#contract';
import { compileRequest } from '../../../../plugins/ai/mcp/workflow-request.ts';
import { until } from '../../../support/conditions.ts';
import { json } from '../../../support/gateway.ts';
import { configOf, Stage } from './setup.ts';

describe('an MCP server with hostile clients', () => {
  let stage: Stage;

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.close());

  const call = (args: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lookup","arguments":${args}}}`;

  it("rejects a message larger than 1 MiB, or larger than half of the router's max_payload", async () => {
    await stage.start(json({}), { server: { stateless: true } });
    const text = (length: number) => call(`{"code":"${'x'.repeat(length)}"}`);
    equal((await stage.send({ body: text(1024 * 1024) })).status, 413);
    equal((await stage.send({ body: text(1000 * 1024) })).message.result.isError, true);
    await stage.gateway.reload(
      configOf(stage.backend.url, {
        server: { stateless: true },
        root: { extra_config: { router: { max_payload: 8 * 1024 * 1024 } } },
      }),
    );
    equal((await stage.send({ body: text(4 * 1024 * 1024) })).status, 413);
    equal((await stage.send({ body: text(3 * 1024 * 1024) })).message.result.isError, true);
  });

  it('survives arguments that are nested 100,000 levels deep', async () => {
    await stage.start(json({}), {
      server: { stateless: true },
      tool: { input_schema: {} },
      workflow: { endpoint: '/' },
      backend: { url_pattern: '/' },
    });
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    // Also sends a number beyond the range of JavaScript, because other code parses such a body.
    for (const args of [`{"code":${deep}}`, `{"code":${deep},"n":12345678901234567890}`]) {
      const { error } = (await stage.send({ body: call(args) })).message;
      deepEqual(error, { code: -32700, message: 'the body is nested more than 500 levels deep' });
    }
    equal((await stage.ask('ping')).status, 200);
  });

  it('rejects calls with more than 1,000 arguments', async () => {
    await stage.start(json({}), { server: { stateless: true }, tool: { input_schema: {} } });
    const args = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1]));
    equal((await stage.call({ ...args(999), code: 'ES' })).message.result.isError, undefined);
    const { result } = (await stage.call({ ...args(1000), code: 'ES' })).message;
    deepEqual([result.isError, result.content[0].text], [true, 'more than 1000 arguments']);
  });

  it('ignores arguments with the names of variables that hold responses of workflow backends', () => {
    const toWorkflow = compileRequest([], [], 'x');
    const args = { code: 'x', Resp0_id: 'y', resp1_id: 'y', resp0: 'y', response: 'z' };
    const { params } = toWorkflow(args, makeRequest({ path: '/' }));
    deepEqual(params, { Code: 'x', Response: 'z' });
  });

  it('treats argument keys such as __proto__ as plain data', async () => {
    await stage.start(json({}), {
      server: { stateless: true, json_response: true },
      tool: { input_schema: { type: 'object', required: ['toString'], properties: { code: { type: 'string' } } } },
      backend: { method: 'POST' },
    });
    const { message } = await stage.send({ body: call('{"code":"x"}') });
    equal(message.result.isError, true);
    const hostile = '{"code":"x","toString":"y","__proto__":{"code":"z"},"constructor":"c"}';
    equal((await stage.send({ body: call(hostile) })).message.result.isError, undefined);
    equal(stage.backend.requests[0]!.target, '/__t/x');
    equal(stage.backend.requests[0]!.body.toString(), hostile);
    equal(({} as { code?: unknown }).code, undefined);
    for (const params of [
      '{"__proto__":{"name":"lookup"}}',
      '{"name":"constructor"}',
      '{"name":"lookup","arguments":{"__proto__":1}}',
    ]) {
      const got = await stage.send({ body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}` });
      equal(got.status, 200);
      ok(got.message.error?.code === -32602 || got.message.result.isError);
    }
  });

  it('lists a limited number of schema violations, in at most twice the usual time', async () => {
    await stage.start(json({}), {
      server: { stateless: true, json_response: true },
      tool: {
        input_schema: {
          type: 'object',
          properties: { code: { type: 'array', uniqueItems: true, items: { type: 'integer' } } },
        },
      },
    });
    const few = await stage.call({ code: Array.from({ length: 100 }, () => 'x') });
    equal(few.message.result.content[0].text.split('\n').length, 21);
    const many = await stage.call({ code: Array.from({ length: 100_000 }, (_, at) => at) });
    equal(many.message.result.isError, true);
    equal((await stage.call({ code: [1, 2, 1] })).message.result.content[0].text.includes('uniqueItems'), true);
  });

  it('answers a flood of initialize requests and keeps the sessions that are in use', async () => {
    await stage.start(json({}), { server: { json_response: true } });
    const session = await stage.initialize();
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 20 }, () => stage.initialize()));
      equal((await stage.ask('ping', undefined, session)).status, 200);
    }
  });

  it('closes the stream of a disconnected client', async () => {
    await stage.start(json({}), { server: { ping_period: '50ms' } });
    const session = await stage.initialize();
    const socket = connect(stage.port, '127.0.0.1');
    socket.write(
      `GET /mcp HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${session['Mcp-Session-Id']}\r\n\r\n`,
    );
    socket.pause();
    await until(() => stage.gateway.status.streams === 1);
    // The stream ends, because the client neither reads nor responds.
    await until(() => stage.gateway.status.streams === 0);
    socket.destroy();
  });

  it('rejects foreign origins that imitate its host in the Origin header', async () => {
    await stage.start(json({}), { server: { stateless: true } });
    for (const origin of [
      `http://127.0.0.1:${stage.port}.evil.example`,
      `http://evil.example#127.0.0.1:${stage.port}`,
      'http://',
    ]) {
      equal((await stage.ask('ping', undefined, { Origin: origin })).status, 403, origin);
    }
    deepEqual(
      stage.lines.filter((line) => line.includes('ERROR')),
      [],
    );
  });
});
