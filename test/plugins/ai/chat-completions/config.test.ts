import { deepEqual, equal } from 'node:assert/strict';
import { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import { modelBackend } from '../llm/fixture.ts';
import { ChatTestbed, type Written } from './setup.ts';

const messages = [{ role: 'user', content: 'hi' } as const];

describe('the configuration of ai/chat-completions', () => {
  let testbed: ChatTestbed;

  before(async () => {
    testbed = await ChatTestbed.open((_seen, response) => response.end());
  });
  after(() => testbed.close());

  const issues = async (written: Written): Promise<readonly string[]> => {
    try {
      await testbed.serve(written);
    } catch (error) {
      if (!(error instanceof ConfigErrors)) throw error;
      return error.errors.map(({ code, pointer }) => `${code} ${pointer.replace(/^.*ai~1chat-completions/, '')}`);
    }
    return [];
  };

  it('accepts endpoints without a backend and endpoints with one', async () => {
    deepEqual(await issues({}), []);
    deepEqual(await issues({ endpoint: { backend: [{ url_pattern: '/never' }] } }), []);
    deepEqual(
      testbed.gateway.status.warnings.filter(({ code }) => code !== 'SECRET_LITERAL'),
      [],
    );
  });

  it('rejects two models with the same name, and a model whose backend is not a language model', async () => {
    const backend = [modelBackend(testbed.backend.url, 'openai')];
    deepEqual(await issues({ models: [{ name: 'openai', backend }] }), ['CHAT_MODEL /models/6/name']);
    const plain = [{ host: [testbed.backend.url], url_pattern: '/' }];
    deepEqual(await issues({ models: [{ name: 'other', backend: plain }] }), ['CHAT_BACKEND /models/6/backend/0']);
  });

  it('rejects endpoints with other methods than GET and POST, and names of undeclared models', async () => {
    deepEqual(await issues({ endpoint: { method: 'PUT' } }), ['CHAT_METHOD ']);
    const offering = (name: string) => ({ endpoint: { extra_config: { 'ai/chat-completions': { models: [name] } } } });
    deepEqual(await issues(offering('opanai')), ['CHAT_MODEL /models/0']);
    deepEqual(await issues(offering('openai')), []);
    const payload = { model: 'mistral', messages };
    const { statusCode } = await testbed.gateway.inject({ method: 'POST', url: '/v1/chat/completions', payload });
    equal(statusCode, 404);
  });

  it('runs after authentication on its endpoint', async () => {
    const requested = testbed.backend.requests.length;
    await testbed.serve({
      endpoint: { extra_config: { 'auth/api-keys': { roles: ['user'] } } },
      root: { extra_config: { 'auth/api-keys': { keys: [{ key: 'another', roles: ['user'] }] } } },
    });
    const failure = await testbed.client.chat.completions.create({ model: 'openai', messages }).catch((error) => error);
    deepEqual([failure.status, testbed.backend.requests.length], [401, requested]);
  });
});
