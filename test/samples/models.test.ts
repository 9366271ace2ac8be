import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Operations } from '#kernel';
import { startBackend, startGateway, type TestBackend } from '../support/gateway.ts';
import { beginStream, models, wholeStream } from '../support/models.ts';
import { openStream } from '../support/stream-client.ts';
import { checkFilled } from './filled-check.ts';
import { followGuide } from './guide.ts';

describe('the sample "models"', function () {
  this.timeout(60_000);
  let vendors: TestBackend;
  let gateway: Operations;

  before(async () => {
    vendors = await startBackend(({ target, body }, response) => {
      const name = target.includes('gemini') ? 'gemini' : target.includes('/messages') ? 'anthropic' : 'openai';
      const [, , fixture] = models.find(([vendor]) => vendor === (target.includes('/converse') ? 'bedrock' : name))!;
      if (JSON.parse(String(body)).stream) beginStream(name, response).end(wholeStream(name, fixture));
      else if (target.endsWith('/converse-stream'))
        beginStream('bedrock', response).end(wholeStream('bedrock', fixture));
      else response.setHeader('Content-Type', 'application/json').end(JSON.stringify(fixture.answer));
    });
    const text = readFileSync('samples/models/gateway.json', 'utf8');
    gateway = await startGateway(JSON.parse(text.replace(/https:\/\/[\w.-]+\.(?:com)/g, vendors.url)));
  });
  after(async () => {
    await gateway.close();
    await vendors.close();
  });

  it('passes check without warnings', async () => {
    const keys = ['OPENAI_KEY', 'GEMINI_KEY', 'ANTHROPIC_KEY', 'BEDROCK_KEY'].map((name) => [
      name,
      `${name}-of-the-sample`,
    ]);
    const { code, err } = await checkFilled('samples/models/gateway.json', Object.fromEntries(keys));
    deepEqual([code, err], [0, '']);
  });

  it('has a guide whose commands print the output that it shows', () => {
    const providers = ['api.openai.com', 'api.anthropic.com', 'bedrock-runtime.eu-central-1.amazonaws.com'];
    return followGuide('models', {
      servers: Object.fromEntries(providers.map((name) => [`https://${name}`, vendors.url])),
    });
  });

  it('calls the model named in a header, or the fallback, with one request format', async () => {
    const ask = async (headers: Record<string, string>) => {
      const payload = { contents: 'Why is the sky blue?' };
      const { body } = await gateway.inject({ method: 'POST', url: '/ask', headers, payload });
      return [vendors.requests.at(-1)!.target, JSON.parse(body).usage];
    };
    deepEqual(await ask({ 'x-model': 'openai' }), ['/v1/responses', 7]);
    deepEqual(await ask({ 'x-model': 'gemini-2.5-flash' }), ['/v1beta/models/gemini-2.5-flash:generateContent', 7]);
    deepEqual(await ask({}), ['/v1/messages', 7]);
  });

  it('rejects prompts of more than 100000 bytes', async () => {
    const payload = { contents: 'x'.repeat(100_000) };
    equal((await gateway.inject({ method: 'POST', url: '/ask', payload })).statusCode, 413);
  });

  it('serves the OpenAI API, with the model named in the request', async () => {
    const payload = { model: 'claude', messages: [{ role: 'user', content: 'Why is the sky blue?' }] };
    const { body } = await gateway.inject({ method: 'POST', url: '/v1/chat/completions', payload });
    deepEqual([JSON.parse(body).model, vendors.requests.at(-1)!.target], ['claude', '/v1/messages']);
    const list = await gateway.inject({ url: '/v1/models' });
    deepEqual(
      JSON.parse(list.body).data.map(({ id }: { id: string }) => id),
      ['gpt-4.1-mini', 'claude'],
    );
  });

  it('streams chat completions in chunks', async () => {
    const { port } = await gateway.listen();
    const stream = await openStream(port, '/chat', { 'content-type': 'application/json' }, '{"contents":"hi"}');
    await stream.until('data: [DONE]');
    equal(await stream.ended(), true);
    equal(vendors.requests.at(-1)!.target, '/model/eu.amazon.nova-lite-v1:0/converse-stream');
  });
});
