import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type OpenAI from 'openai';
import { APIError } from 'openai';
import { json } from '../../../support/gateway.ts';
import { beginStream, models, streamed } from '../../../support/models.ts';
import { useChatTestbed } from './setup.ts';

const messages = [{ role: 'user', content: 'hi' }];

describe('ai/chat-completions reports errors in the OpenAI format:', () => {
  const suite = useChatTestbed();

  const failed = async (body: object): Promise<APIError> => {
    try {
      await suite.client.chat.completions.create(body as OpenAI.ChatCompletionCreateParamsNonStreaming);
    } catch (error) {
      if (error instanceof APIError) return error;
      throw error;
    }
    throw new Error('it succeeded');
  };

  it('invalid requests are rejected without calling a vendor', async () => {
    const requested = suite.testbed.backend.requests.length;
    const cases: [body: object, status: number, param: string | null, code: string | null][] = [
      [{ model: 'nobody', messages }, 404, 'model', 'model_not_found'],
      [{ messages }, 400, 'model', 'missing_required_parameter'],
      [{ model: 'openai' }, 400, 'messages', 'missing_required_parameter'],
      [{ model: 'openai', messages: [] }, 400, 'messages', 'invalid_value'],
      [{ model: 'openai', messages: [{ role: 'robot', content: 'hi' }] }, 400, 'messages[0].role', 'invalid_value'],
      [{ model: 'openai', messages: [{ role: 'user', content: 7 }] }, 400, 'messages[0].content', 'invalid_value'],
      [
        { model: 'openai', messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
        400,
        'messages[0].content[0]',
        'invalid_value',
      ],
      [{ model: 'openai', messages, stream: 'yes' }, 400, 'stream', 'invalid_value'],
      [{ model: 'openai', messages, temperature: 'hot' }, 400, 'temperature', 'invalid_value'],
      [{ model: 'openai', messages, stop: ['1', '2', '3', '4', '5'] }, 400, 'stop', 'invalid_value'],
      [{ model: 'openai', messages, frequency_penalty: 1 }, 400, 'frequency_penalty', 'unsupported_parameter'],
      [{ model: 'openai', messages, __proto__: null, temprature: 1 }, 400, 'temprature', 'unsupported_parameter'],
      [{ model: 'openai', messages, seed: 1 }, 400, null, null],
    ];
    for (const [body, status, param, code] of cases) {
      const error = await failed(body);
      deepEqual([error.status, error.param, error.code, error.type], [status, param, code, 'invalid_request_error']);
      ok(error.message.length > 5);
    }
    equal(suite.testbed.backend.requests.length, requested);
  });

  it('a body that is not valid JSON is rejected', async () => {
    for (const payload of ['', 'no JSON', '[]']) {
      const { statusCode, body, headers } = await suite.testbed.gateway.inject({
        method: 'POST',
        url: '/v1/chat/completions',
        payload,
      });
      deepEqual([statusCode, headers['content-type']], [400, 'application/json']);
      match(JSON.parse(body).error.message, /JSON/);
    }
  });

  it('parameters without effect and text content parts are accepted', async () => {
    const [, , fixture] = models.find(([vendor]) => vendor === 'anthropic')!;
    suite.respond = json(fixture.answer);
    await suite.client.chat.completions.create({
      model: 'anthropic',
      messages: [
        { role: 'developer', content: 'be brief' },
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      ],
      n: 1,
      user: 'ada',
      presence_penalty: 0,
      temperature: null,
      metadata: { a: 'b' },
    });
    deepEqual(suite.testbed.received(), fixture.payload);
  });

  for (const [vendor, , { failure }] of models) {
    it(`requests that ${vendor} rejects, and its rate limits, are forwarded to the client`, async () => {
      suite.respond = (_seen, response) =>
        response.writeHead(400, failure.headers).end('{"error":{"message":"too long"}}');
      const wrong = await failed({ model: vendor, messages });
      deepEqual([wrong.status, wrong.type], [400, 'invalid_request_error']);
      match(wrong.message, /too long/);
      suite.respond = (_seen, response) => response.writeHead(429, { 'Retry-After': '3' }).end('{}');
      const limited = await failed({ model: vendor, messages });
      deepEqual([limited.status, limited.type, limited.headers?.get('retry-after')], [429, 'rate_limit_error', '3']);
    });

    it(`authentication and server errors of ${vendor} become 502 without their details`, async () => {
      for (const status of [401, 403, 404, 500, 503]) {
        suite.respond = (_seen, response) =>
          response.writeHead(status).end('{"error":{"message":"the key k is wrong"}}');
        const error = await failed({ model: vendor, messages });
        deepEqual([error.status, error.type], [502, 'api_error']);
        ok(!error.message.includes('wrong'));
      }
    });
  }

  it('an unreachable vendor and an invalid vendor response become 502', async () => {
    suite.respond = (_seen, response) => response.destroy();
    equal((await failed({ model: 'openai', messages })).status, 502);
    suite.respond = (_seen, response) => response.end('no JSON');
    equal((await failed({ model: 'openai', messages })).status, 502);
  });

  it('a model that does not respond within the timeout becomes 504', async () => {
    await suite.testbed.serve({ endpoint: { timeout: '50ms' } });
    suite.respond = () => {};
    equal((await failed({ model: 'openai', messages })).status, 504);
    await suite.testbed.serve();
  });

  it('errors and failed streams contain the request ID', async () => {
    await suite.testbed.serve({ root: { extra_config: { router: { request_id: 'X-Request-Id' } } } });
    const ask = async (body: object) => {
      const response = await fetch(`http://127.0.0.1:${suite.testbed.port}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      return [response.headers.get('x-request-id'), await response.text()] as const;
    };
    const [id, text] = await ask({ model: 'nobody', messages });
    ok(id);
    equal(JSON.parse(text).error.request_id, id);
    suite.respond = (_seen, response) => beginStream('anthropic', response).end();
    const [streamId, stream] = await ask({ model: 'anthropic', messages, stream: true });
    ok(streamId && stream.includes(`"request_id":"${streamId}"`), stream);
    await suite.testbed.serve();
    equal((await ask({ model: 'nobody', messages }))[1].includes('request_id'), false);
  });

  it('a failed or incomplete stream ends with an error event', async () => {
    const [, , fixture] = models.find(([vendor]) => vendor === 'anthropic')!;
    const begun = fixture.stream.messages.slice(0, 4).map((message) => streamed('anthropic', message));
    for (const last of [[], [streamed('anthropic', fixture.stream.broken!)]]) {
      suite.respond = (_seen, response) => beginStream('anthropic', response).end(Buffer.concat([...begun, ...last]));
      const stream = await suite.client.chat.completions.create({
        model: 'anthropic',
        messages: [{ role: 'user', content: 'hi' }],
        stream: true,
      });
      let text = '';
      const error = await (async () => {
        for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
      })().catch((thrown: unknown) => thrown);
      deepEqual([text, error instanceof APIError], ['Hel', true]);
    }
  });
});
