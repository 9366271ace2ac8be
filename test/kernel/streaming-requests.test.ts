import { deepEqual, equal } from 'node:assert/strict';
import { startBackend, startGateway } from '../support/gateway.ts';

const key = { 'x-key': 'ada' };
const prompt = { 'content-type': 'application/json' };

describe('a request for a stream', () => {
  it('is authenticated, limited and validated like any other, before its backend is called', async () => {
    const backend = await startBackend((_seen, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end('data: 1\n\n');
    });
    const gateway = await startGateway({
      host: [backend.url],
      extra_config: {
        'auth/api-keys': { identifier: 'X-Key', keys: [{ key: 'ada', roles: ['user'] }] },
      },
      endpoints: [
        {
          endpoint: '/s',
          method: 'POST',
          output_encoding: 'sse',
          input_headers: ['Content-Type'],
          extra_config: {
            'auth/api-keys': { roles: ['user'] },
            'qos/ratelimit/router': { client_max_rate: 2, client_capacity: 2, every: '1h', strategy: 'ip' },
            'validation/json-schema': { type: 'object', required: ['prompt'] },
          },
          backend: [{ url_pattern: '/', method: 'POST' }],
        },
      ],
    });
    const ask = (headers: Record<string, string>, payload: object) =>
      gateway.inject({
        method: 'POST',
        url: '/s',
        headers: { ...prompt, ...headers },
        payload: JSON.stringify(payload),
      });
    const statuses: number[] = [];
    for (const [headers, payload] of [
      [{}, { prompt: 'hi' }],
      [key, { words: 'hi' }],
      [key, { prompt: 'hi' }],
      [key, { prompt: 'hi' }],
    ] as const) {
      const { statusCode, body } = await ask(headers, payload);
      statuses.push(statusCode);
      if (statusCode === 200) equal(body, 'data: 1\n\n');
    }
    deepEqual(statuses, [401, 400, 200, 429]);
    deepEqual(
      backend.requests.map(({ body }) => body.toString()),
      ['{"prompt":"hi"}'],
    );
    await gateway.close();
    await backend.close();
  });
});
