import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { maskSecrets } from '../../../../kernel/config/index.ts';
import { json } from '../../../support/gateway.ts';
import { beginStream, models, wholeStream } from '../../../support/models.ts';
import { openStream } from '../../../support/stream-client.ts';
import { ask, ModelTestbed, modelOf } from '../llm/fixture.ts';

describe('ai/providers', function () {
  this.timeout(30_000);
  let testbed: ModelTestbed;

  before(async () => {
    testbed = await ModelTestbed.open(({ body, target }, response) => {
      const vendor = models.find(([, , fixture]) => target.startsWith(fixture.url_pattern.replace(/:?[a-zA-Z]*$/, '')));
      const [name, , fixture] = vendor ?? models[0]!;
      if (JSON.parse(String(body)).stream) beginStream(name, response).end(wholeStream(name, fixture));
      else json(fixture.answer)({} as never, response);
    });
  });
  afterEach(() => testbed.closeGateways());
  after(() => testbed.close());

  const provider = (more: object = {}) => ({
    name: 'fast',
    provider: 'openai',
    credentials: 'key-of-the-gateway',
    endpoint: testbed.backend.url,
    ...more,
  });
  const root = (...providers: object[]) => ({ extra_config: { 'ai/providers': { providers } } });
  const referring = (config: object = { provider: 'fast' }, more: object = {}) => [
    { ...more, extra_config: { 'ai/llm': config } },
  ];
  const serve = (providers: object[], backend = referring(), endpoint: object = {}): Promise<Operations> =>
    testbed.serve(backend, {}, endpoint, {}, root(...providers));
  const issues = (providers: object[], backend = referring(), endpoint: object = {}): Promise<readonly string[]> =>
    testbed.issues(backend, {}, endpoint, {}, root(...providers));

  for (const [vendor, , fixture] of models) {
    it(`calls ${vendor} at its usual path, with the credentials and variables of the provider`, async () => {
      const { model: _, ...variables } = fixture.variables as { model?: string };
      const gateway = await serve([provider({ provider: vendor, model: 'some-model', credentials: 'k', variables })]);
      equal((await ask(gateway)).statusCode, 200);
      const { target, headers, body } = testbed.backend.requests.at(-1)!;
      const paths: Record<string, string> = {
        gemini: '/v1beta/models/some-model:generateContent',
        bedrock: '/model/some-model/converse',
      };
      equal(target, paths[vendor] ?? fixture.url_pattern);
      for (const [name, value] of Object.entries(fixture.headers)) equal(headers[name.toLowerCase()], value);
      if (!paths[vendor]) equal(JSON.parse(String(body)).model, 'some-model');
    });
  }

  it('uses the default model of the vendor, and the path of a configured endpoint', async () => {
    const gateway = await serve([provider({ endpoint: `${testbed.backend.url}/proxy/v1/responses?team=a` })]);
    await ask(gateway);
    const { target, body } = testbed.backend.requests.at(-1)!;
    deepEqual([target, JSON.parse(String(body)).model], ['/proxy/v1/responses?team=a', 'gpt-5.4-mini']);
  });

  it('percent-encodes names of models in paths', async () => {
    const gateway = await serve([provider({ provider: 'bedrock', model: 'arn:aws:x/{y}?z' })]);
    await ask(gateway);
    equal(testbed.backend.requests.at(-1)!.target, '/model/arn:aws:x%2F%7By%7D%3Fz/converse');
  });

  it('streams responses of a provider in the format that the backend configures', async () => {
    const gateway = await serve([provider()], referring({ provider: 'fast', format: 'anthropic' }), {
      output_encoding: 'streaming',
    });
    const { port } = await gateway.listen();
    const stream = await openStream(port, '/ask', { 'content-type': 'application/json' }, '{"contents":"hi"}');
    await stream.until('message_stop');
  });

  it('serves models of the OpenAI-compatible API that refer to a provider', async () => {
    const gateway = await testbed.serve(
      [{ host: [testbed.backend.url], url_pattern: '/' }],
      {},
      { extra_config: { 'ai/chat-completions': {} } },
      {},
      {
        extra_config: {
          ...root(provider()).extra_config,
          'ai/chat-completions': { models: [{ name: 'gpt', backend: referring() }] },
        },
      },
    );
    const { body } = await ask(gateway, { model: 'gpt', messages: [{ role: 'user', content: 'hi' }] });
    equal(JSON.parse(body).object, 'chat.completion');
  });

  it('ignores the host of a backend that refers to a provider, with a warning', async () => {
    const gateway = await serve([provider()], referring(undefined, { host: ['http://127.0.0.1:1'], url_pattern: '/' }));
    equal((await ask(gateway)).statusCode, 200);
    ok(testbed.lines.some((line) => line.includes('LLM_ADDRESS')));
  });

  it('masks credentials in the log, and never shows them in the configuration', async () => {
    const gateway = await serve([provider({ debug: true })]);
    await ask(gateway);
    ok(!testbed.lines.some((line) => line.includes('key-of-the-gateway')));
    const shown = JSON.stringify(maskSecrets(root(provider()) as never, ''));
    ok(!shown.includes('key-of-the-gateway'));
  });

  it('reports a literal credential once, where it is declared, however many backends and routers refer to it', async () => {
    const routed = [{ extra_config: { 'ai/router': { routes: [{ provider: 'fast' }] } } }];
    for (const backends of [referring(), routed]) {
      const gateway = await serve([provider()], backends as never);
      const literals = gateway.status.warnings.filter(({ code }) => code === 'SECRET_LITERAL');
      deepEqual(
        literals.map(({ pointer }) => pointer),
        ['/extra_config/ai~1providers/providers/0/credentials'],
      );
    }
  });

  it('reports unknown, misspelled and duplicate names of providers', async () => {
    deepEqual(await issues([provider()], referring({ provider: 'fats' })), ['LLM_PROVIDER /provider']);
    deepEqual(await issues([], referring()), ['LLM_PROVIDER /provider']);
    deepEqual(await issues([provider()], referring({ provider: '__proto__' })), ['LLM_PROVIDER /provider']);
    deepEqual(await issues([provider(), provider()]), ['PROVIDER_NAME /extra_config/ai~1providers/providers/1/name']);
    deepEqual(await testbed.issues(referring()), ['LLM_PROVIDER /provider']);
  });

  it('reports endpoints that are not the URL of an API', async () => {
    for (const endpoint of ['models.internal', 'ftp://models.internal/v1', 'https://me:secret@models.internal']) {
      const found = await issues([provider({ endpoint })]);
      deepEqual(found[0], 'PROVIDER_ENDPOINT /extra_config/ai~1providers/providers/0/endpoint', endpoint);
    }
  });

  it('rejects a backend with both a vendor and a provider, missing credentials, and an unknown vendor', async () => {
    const { version, fixture } = modelOf('openai');
    const vendor = { openai: { [version]: { credentials: 'k', variables: fixture.variables } } };
    equal((await issues([provider()], referring({ provider: 'fast', ...vendor }))).length, 1);
    const { credentials: _, ...open } = provider();
    equal((await issues([open]))[0], 'SCHEMA_REQUIRED /extra_config/ai~1providers/providers/0');
    ok((await issues([provider({ provider: 'acme' })])).some((issue) => issue.endsWith('/providers/0/provider')));
  });

  it('accepts a provider with the name of a property that all objects have', async () => {
    const gateway = await serve([provider({ name: '__proto__' })], referring(JSON.parse('{"provider":"__proto__"}')));
    equal((await ask(gateway)).statusCode, 200);
  });
});
