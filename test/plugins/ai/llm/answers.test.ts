import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answering, json } from '../../../support/gateway.ts';
import { models } from '../../../support/models.ts';
import { ask, ModelTestbed, modelBackend, modelOf } from './fixture.ts';

describe('ai/llm', () => {
  let testbed: ModelTestbed;
  let respond: Answering;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-llm-'));
    testbed = await ModelTestbed.open((seen, response) => respond(seen, response));
  });
  afterEach(() => testbed.closeGateways());
  after(async () => {
    await testbed.close();
    rmSync(folder, { recursive: true });
  });

  const received = () => JSON.parse(String(testbed.backend.requests.at(-1)!.body));
  const lastHeaders = () => testbed.backend.requests.at(-1)!.headers;
  const fileOf = (text: string): string => {
    const path = join(folder, `${Math.random()}.tmpl`);
    writeFileSync(path, text);
    return path;
  };

  for (const [vendor, , fixture] of models) {
    describe(`with ${vendor}`, () => {
      it("sends a payload in the vendor's format with the gateway's credentials", async () => {
        respond = json(fixture.answer);
        await ask(await testbed.serve(vendor), { contents: 'hi', instructions: 'be brief' });
        deepEqual(received(), fixture.payload);
        for (const [name, value] of Object.entries(fixture.headers)) equal(lastHeaders()[name], value);
        equal(lastHeaders()['content-type'], 'application/json');
        equal(testbed.backend.requests.at(-1)!.target, fixture.url_pattern);
      });

      it("does not forward the client's address headers to the vendor", async () => {
        respond = json(fixture.answer);
        const gateway = await testbed.serve(
          vendor,
          {},
          { input_headers: ['X-Real-IP', 'Forwarded', 'X-Forwarded-Proto'] },
        );
        const headers = { 'x-real-ip': '192.0.2.1', forwarded: 'for=192.0.2.1', 'x-forwarded-proto': 'https' };
        await gateway.inject({ method: 'POST', url: '/ask', payload: { contents: 'hi' }, headers });
        deepEqual(
          Object.keys(lastHeaders()).filter((name) => /forwarded|real-ip/.test(name)),
          [],
        );
      });

      it("converts the vendor's response to the common format", async () => {
        respond = json(fixture.answer);
        const { statusCode, body } = await ask(await testbed.serve(vendor));
        deepEqual([statusCode, JSON.parse(body)], [200, fixture.unified]);
      });

      it('converts a conversation and joins consecutive texts of one role into one turn', async () => {
        respond = json(fixture.answer);
        const contents = ['one', { role: 'user', text: 'two' }, { role: 'assistant', text: 'three' }, 'four'];
        await ask(await testbed.serve(vendor), { contents });
        deepEqual(received()[fixture.conversationAt], fixture.conversation);
      });

      it('appends system messages to the instructions', async () => {
        respond = json(fixture.answer);
        const contents = [{ role: 'system', text: 'brief' }, 'hi'];
        await ask(await testbed.serve(vendor), { contents, instructions: 'be' });
        const text = JSON.stringify(received());
        ok(text.includes('be\\nbrief') && !text.includes('"system","content":"brief"'), text);
      });

      it('returns no contents if the model refuses to answer, and logs the reason', async () => {
        respond = json(fixture.refused);
        const { statusCode, body } = await ask(await testbed.serve(vendor));
        deepEqual([statusCode, JSON.parse(body).usage], [200, 7]);
        deepEqual(JSON.parse(body).ai_gateway_response, [{ contents: [] }]);
        ok(testbed.lines.some((line) => line.includes('no text in the response')));
      });

      it('logs the status and error code of a failed call, but no part of the prompt', async () => {
        const { status, headers, body, code } = fixture.failure;
        respond = (_seen, response) => response.writeHead(status, headers).end(JSON.stringify(body));
        const { statusCode } = await ask(await testbed.serve(vendor));
        equal(statusCode, 500);
        const line = testbed.lines.find((each) => each.includes('[LLM]'))!;
        match(line, new RegExp(`WARNING.*${vendor}/v1.*: status ${status}, code ${code}`));
        doesNotMatch(line, /hi\b/);
      });
    });
  }

  it('sends a prompt without instructions and returns the text and usage of the response', async () => {
    respond = json({
      output: [{ type: 'reasoning' }, { type: 'message', content: [{ type: 'output_text', text: 'yo' }] }],
      usage: { total_tokens: 7 },
    });
    const gateway = await testbed.serve('openai', { variables: { model: 'm' } });
    const { body } = await ask(gateway);
    deepEqual(received(), { model: 'm', input: 'hi' });
    equal(lastHeaders().authorization, 'Bearer k');
    deepEqual(JSON.parse(body), { ai_gateway_response: [{ contents: ['yo'] }], usage: 7 });
  });

  it('requests 1024 output tokens from Anthropic by default', async () => {
    const { fixture } = modelOf('anthropic');
    respond = json(fixture.answer);
    const gateway = await testbed.serve('anthropic', { variables: { model: 'm' } });
    const { body } = await ask(gateway, { contents: 'hi', instructions: 'be kind' });
    deepEqual(received(), {
      model: 'm',
      max_tokens: 1024,
      system: 'be kind',
      messages: [{ role: 'user', content: 'hi' }],
    });
    equal(JSON.parse(body).usage, 7);
  });

  it('omits unset variables and empty objects from the payload', async () => {
    respond = json({});
    await ask(await testbed.serve('gemini', { variables: {} }));
    deepEqual(received(), { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] });
    await ask(await testbed.serve('bedrock', { variables: {} }));
    deepEqual(received(), { messages: [{ role: 'user', content: [{ text: 'hi' }] }] });
    await ask(await testbed.serve('openai', { variables: { model: 'm', max_output_tokens: 0 } }));
    deepEqual(received(), { model: 'm', input: 'hi' });
  });

  it('reports a usage of 0 for a response without usage data', async () => {
    respond = json({ content: [{ type: 'text', text: 'a' }] });
    const { body } = await ask(await testbed.serve('anthropic'));
    deepEqual(JSON.parse(body), { ai_gateway_response: [{ contents: ['a'] }], usage: 0 });
  });

  it('treats malformed vendor responses as responses without text', async () => {
    for (const answer of [{ output: 'no' }, { output: [null, 1, { type: 'message', content: {} }] }, { usage: [] }]) {
      respond = json(answer);
      const { statusCode, body } = await ask(await testbed.serve('openai'));
      deepEqual([statusCode, JSON.parse(body)], [200, { ai_gateway_response: [{ contents: [] }], usage: 0 }]);
    }
  });

  it('explains an invalid request to the client, even if backend errors are hidden', async () => {
    const gateway = await testbed.serve('openai');
    for (const [body, reason] of [
      [{}, 'contents is required'],
      [{ contents: 'hi', instructions: 1 }, 'instructions must be a string'],
      [{ contents: [{ role: 'user' }] }, 'contents[0] must have a text'],
    ] as const) {
      const response = await ask(gateway, body);
      deepEqual([response.statusCode, response.body], [400, reason]);
    }
  });

  it('rejects a request without a prompt without calling the vendor', async () => {
    respond = json({});
    const gateway = await testbed.serve('openai', {}, {}, {}, { extra_config: { router: { return_error_msg: true } } });
    const requested = testbed.backend.requests.length;
    const refused = async (body: unknown) => {
      const response = await ask(gateway, body);
      return [response.statusCode, response.body];
    };
    for (const body of [
      'no JSON',
      '',
      '[]',
      'null',
      {},
      { contents: '' },
      { contents: null },
      { contents: [] },
      { instructions: 'a' },
    ])
      deepEqual(await refused(body), [400, 'contents is required']);
    deepEqual(await refused({ contents: 7 }), [400, 'contents must be a string or an array of strings and turns']);
    deepEqual(await refused({ contents: [{ role: 'tool', text: 'a' }] }), [
      400,
      'contents[0] must have a role: user, assistant or system',
    ]);
    deepEqual(await refused({ contents: ['a', { role: '__proto__', text: 'a' }] }), [
      400,
      'contents[1] must have a role: user, assistant or system',
    ]);
    deepEqual(await refused({ contents: [{ role: 'user' }] }), [400, 'contents[0] must have a text']);
    deepEqual(await refused({ contents: 'a', instructions: {} }), [400, 'instructions must be a string']);
    deepEqual(await refused('{"__proto__":{"contents":"a"}}'), [400, 'contents is required']);
    equal(testbed.backend.requests.length, requested);
  });

  it("builds the payload from a template with the variables and the client's request body", async () => {
    respond = json(modelOf('openai').fixture.answer);
    const input_template = fileOf(
      '{"mode":{{ toJson .variables.extra_payload.mode }},"foo":{{ toJson .variables.foo }},"text":{{ toJson .req_body.text }}}',
    );
    const gateway = await testbed.serve('openai', {
      input_template,
      variables: { model: 'm', foo: 1, extra_payload: { mode: 'fast' } },
    });
    await ask(gateway, { text: 'mine' });
    deepEqual(received(), { mode: 'fast', foo: 1, text: 'mine' });
  });

  it('builds the response from a template', async () => {
    respond = json(modelOf('openai').fixture.answer);
    const output_template = fileOf(
      '{"id":{{ toJson .resp_body.id }},"model":{{ toJson .variables.model }},"done":{{ .resp_completed }}}',
    );
    const { body } = await ask(await testbed.serve('openai', { output_template }));
    deepEqual(JSON.parse(body), {
      id: 'resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b',
      model: 'gpt-x',
      done: true,
    });
    const broken = await ask(await testbed.serve('openai', { output_template: fileOf('no JSON') }));
    equal(broken.statusCode, 500);
  });

  it("forwards the error status and Retry-After of a vendor that is the endpoint's only backend", async () => {
    respond = (_seen, response) =>
      response.writeHead(429, { 'Retry-After': '3' }).end('{"error":{"code":"rate_limit_exceeded"}}');
    const one = await ask(await testbed.serve('openai'));
    deepEqual([one.statusCode, one.headers['retry-after']], [429, '3']);
    const withCode = await testbed.serve(
      'openai',
      {},
      {},
      { extra_config: { 'backend/http': { return_error_code: true } } },
    );
    const passed = await ask(withCode);
    deepEqual([passed.statusCode, passed.headers['retry-after']], [429, '3']);
    const { url } = testbed.backend;
    const two = await ask(
      await testbed.serve([
        modelBackend(url, 'openai', {}, { group: 'a' }),
        modelBackend(url, 'mistral', {}, { group: 'b' }),
      ]),
    );
    deepEqual([two.statusCode, two.headers['retry-after']], [500, undefined]);
  });

  it("masks credentials that a vendor's error message repeats", async () => {
    const credentials = 'SECRET-KEY"';
    respond = (_seen, response) => response.writeHead(401).end(JSON.stringify({ error: { message: credentials } }));
    const more = { extra_config: { 'backend/http': { return_error_details: 'model' } } };
    const whole = await ask(await testbed.serve('openai', { credentials }, {}, more));
    deepEqual(JSON.parse(whole.body).error_model, { http_status_code: 401, http_body: '{"error":{"message":"***"}}' });
    const streamed = await ask(await testbed.serve('openai', { credentials }, { output_encoding: 'streaming' }));
    deepEqual([streamed.statusCode, streamed.body], [401, '{"error":{"message":"***"}}']);
  });

  it("returns 500 if a vendor's error body exceeds 1 MiB or never ends", async () => {
    respond = (_seen, response) => response.writeHead(400).end('x'.repeat(1024 * 1024 + 1));
    const { statusCode } = await ask(await testbed.serve('openai', { variables: { model: 'm' } }));
    equal(statusCode, 500);
    respond = (_seen, response) => void response.writeHead(400).write('{');
    equal((await ask(await testbed.serve('openai', {}, { timeout: '50ms' }))).statusCode, 500);
  });

  it("rejects a prompt larger than the endpoint's max_payload", async () => {
    respond = json(modelOf('openai').fixture.answer);
    const limited = { extra_config: { proxy: { max_payload: 100 } } };
    const gateway = await testbed.serve('openai', {}, limited);
    const requested = testbed.backend.requests.length;
    equal((await ask(gateway, { contents: 'x'.repeat(100) })).statusCode, 413);
    equal(testbed.backend.requests.length, requested);
    equal((await ask(gateway)).statusCode, 200);
  });

  it('rejects a vendor response larger than 64 MiB', async function () {
    this.timeout(20_000);
    respond = (_seen, response) => {
      response.setHeader('Content-Type', 'application/json');
      const rest = Buffer.alloc(1024 * 1024, ' ');
      const push = (left: number): void => void (left > 0 && response.write(rest, () => push(left - 1)));
      push(66);
    };
    const { statusCode } = await ask(await testbed.serve('openai', {}, { timeout: '20s' }));
    equal(statusCode, 500);
    ok(
      testbed.lines.some((line) => line.includes('body larger than 67108864 bytes')),
      testbed.lines.join(''),
    );
  });

  it('leaves error handling to backend/http if return_error_details is set', async () => {
    respond = (_seen, response) => response.writeHead(503).end('{"error":{"code":"down"}}');
    const more = { extra_config: { 'backend/http': { return_error_details: 'model' } } };
    const { statusCode, body } = await ask(await testbed.serve('openai', {}, {}, more));
    equal(statusCode, 200);
    deepEqual(JSON.parse(body), { error_model: { http_status_code: 503, http_body: '{"error":{"code":"down"}}' } });
  });

  it("never forwards the client's credentials, cookies or identity headers to a vendor", async () => {
    for (const [vendor, , fixture] of models) {
      respond = json(fixture.answer);
      const gateway = await testbed.serve(vendor, {}, { input_headers: ['*'] });
      await ask(
        gateway,
        { contents: 'hi' },
        {
          authorization: 'Bearer client',
          cookie: 'session=1',
          'x-api-key': 'client',
          'x-goog-api-key': 'client',
          'x-other': 'o',
        },
      );
      const seen = lastHeaders();
      ok(!JSON.stringify(testbed.backend.requests.at(-1)!.rawHeaders).includes('client'), vendor);
      deepEqual([seen.cookie, seen['x-other']], [undefined, 'o']);
      for (const [name, value] of Object.entries(fixture.headers)) equal(seen[name], value);
    }
  });

  it('sends its credentials only to the vendor, even after a redirect', async () => {
    const other = await ModelTestbed.open(json({}));
    respond = (_seen, response) => response.writeHead(302, { Location: other.backend.url }).end();
    await ask(await testbed.serve('anthropic'));
    const { requests } = other.backend;
    await other.close();
    deepEqual([requests.length, requests[0]?.headers['x-api-key']], [1, undefined]);
  });

  it('logs the payload and the response if configured, but never the credentials', async () => {
    respond = json({ output: [{ type: 'message', content: [{ type: 'output_text', text: 'you said SECRET-KEY"' }] }] });
    const gateway = await testbed.serve('openai', { debug: true, credentials: 'SECRET-KEY"' });
    await ask(gateway, { contents: 'my prompt SECRET-KEY"' });
    const text = testbed.lines.join('\n');
    ok(text.includes('payload: {"model":"gpt-x","input":"my prompt ***"'), text);
    ok(text.includes('answer: '));
    ok(!text.includes('SECRET-KEY'));
    await ask(await testbed.serve('openai'), { contents: 'my prompt' });
    ok(!testbed.lines.join('\n').includes('my prompt'));
  });

  it('calls several vendors in parallel, each response in its own group', async () => {
    respond = ({ target }, response) =>
      json(models.find(([, , { url_pattern }]) => url_pattern === target)![2].answer)({} as never, response);
    const { url } = testbed.backend;
    const gateway = await testbed.serve(models.map(([vendor]) => modelBackend(url, vendor, {}, { group: vendor })));
    const { body } = await ask(gateway);
    deepEqual(JSON.parse(body), Object.fromEntries(models.map(([vendor, , { unified }]) => [vendor, unified])));
  });

  it("provides the vendor's raw response to the backend log", async () => {
    respond = json(modelOf('gemini').fixture.answer);
    const log = { 'telemetry/logging': { custom_format: 'used %{resp.usageMetadata.totalTokenCount}\n' } };
    const { body } = await ask(await testbed.serve('gemini', {}, {}, { extra_config: log }));
    equal(JSON.parse(body).usageMetadata, undefined);
    ok(
      testbed.lines.some((line) => line.trim() === 'used 7'),
      testbed.lines.join(''),
    );
  });

  it('cancels the call when the endpoint times out', async () => {
    respond = () => {};
    const { statusCode } = await ask(await testbed.serve('openai', {}, { timeout: '50ms' }));
    equal(statusCode, 500);
  });

  it('uses the output of request body generators as its prompt', async () => {
    respond = json(modelOf('openai').fixture.answer);
    const template = Buffer.from('{"contents":"made"}').toString('base64');
    const after = Buffer.from('{"text":{{ toJson .resp_body.ai_gateway_response }}}').toString('base64');
    const components = {
      'modifier/request-body-generator': { template },
      'modifier/response-body-generator': { template: after },
    };
    const { body } = await ask(await testbed.serve('openai', {}, {}, { extra_config: components }), 'anything');
    equal(received().input, 'made');
    deepEqual(JSON.parse(body), { text: [{ contents: ['Hello', ' you'] }] });
  });
});
