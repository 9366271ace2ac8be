import { deepEqual, equal, ok } from 'node:assert/strict';
import { until } from '../../../support/conditions.ts';
import { ask, modelOf } from '../llm/fixture.ts';
import { failing, RouterTestbed } from './setup.ts';

describe('failover of ai/router', function () {
  this.timeout(30_000);
  let testbed: RouterTestbed;

  before(async () => {
    testbed = await RouterTestbed.open();
  });
  afterEach(async () => {
    await testbed.closeGateways();
    testbed.reset();
  });
  after(() => testbed.close());

  const chain = { routes: [{ provider: 'a' }], failover: ['b', 'c'] };

  it('does not happen if the first provider responds, which a response header names', async () => {
    const gateway = await testbed.serve(chain);
    const { statusCode, headers, body } = await ask(gateway);
    equal(statusCode, 200);
    ok(JSON.parse(body).ai_gateway_response);
    deepEqual([headers['x-ai-provider'], headers['x-ai-model']], ['a', 'model-a']);
    deepEqual(testbed.counts, { a: 1, b: 0, c: 0 });
  });

  for (const status of [401, 403, 404, 408, 429, 500, 502, 503, 504, 529]) {
    it(`happens after status ${status}`, async () => {
      testbed.respond.a = failing(status);
      const gateway = await testbed.serve(chain);
      const { statusCode, headers } = await ask(gateway);
      deepEqual([statusCode, headers['x-ai-provider']], [200, 'b']);
      deepEqual(testbed.counts, { a: 1, b: 1, c: 0 });
    });
  }

  it('happens after a broken connection, and sends the same prompt', async () => {
    testbed.respond.a = (_seen, response) => void response.destroy();
    testbed.respond.b = failing(500);
    const gateway = await testbed.serve(chain);
    const { headers } = await ask(gateway, { contents: 'the prompt' });
    equal(headers['x-ai-provider'], 'c');
    equal(JSON.parse(String(testbed.servers.c.requests.at(-1)!.body)).input, 'the prompt');
    ok(String(testbed.servers.b.requests.at(-1)!.body).includes('the prompt'));
  });

  it("happens after the provider's share of the time, and cancels the first call", async () => {
    let isClosed = false;
    testbed.respond.a = (_seen, response) => void response.on('close', () => (isClosed = true));
    const gateway = await testbed.serve({ ...chain, attempt_timeout: '50ms' });
    const { headers } = await ask(gateway);
    equal(headers['x-ai-provider'], 'b');
    await until(() => isClosed);
  });

  it('counts the abandoned call in full against a token budget, in addition to the successful call', async () => {
    testbed.respond.a = () => {};
    const limits = [{ amount: 10_000, unit: 'day' }];
    const root = { 'governance/processors': { quotas: [{ name: 'tokens', rules: [{ name: 'all', limits }] }] } };
    const tiers = [{ rule_name: 'all', tier_value_as: '*', strategy: 'ip' }];
    const budget = { quota_name: 'tokens', tier_key: 'X-Plan', tiers, token_budget: { max_output_tokens: 1000 } };
    const router = { ...chain, attempt_timeout: '50ms' };
    const gateway = await testbed.serve(router, { extra_config: { 'governance/quota': budget } }, root);
    const { headers } = await ask(gateway, { contents: 'hi' });
    const used = modelOf('anthropic').fixture.answer as { readonly usage: Record<string, number> };
    const answered = used.usage['input_tokens']! + used.usage['output_tokens']!;
    const reserved = 1000 + JSON.stringify({ contents: 'hi' }).length;
    deepEqual(
      [headers['x-ai-provider'], headers['x-quota-remaining']],
      ['b', `"day";n=${10_000 - reserved - answered}`],
    );
  });

  it('happens within the timeout of the endpoint by default', async () => {
    testbed.respond.a = () => {};
    const gateway = await testbed.serve(chain, { timeout: '600ms' });
    equal((await ask(gateway)).headers['x-ai-provider'], 'b');
  });

  it('does not happen after a status that the request itself caused, or that is not listed', async () => {
    for (const status of [400, 413, 422]) {
      testbed.respond.a = failing(status);
      const gateway = await testbed.serve(chain);
      ok((await ask(gateway)).statusCode >= 400);
      deepEqual(testbed.counts, { a: 1, b: 0, c: 0 }, String(status));
      testbed.reset();
    }
    testbed.respond.a = failing(500);
    const gateway = await testbed.serve({ ...chain, failover_status_codes: [503] });
    equal((await ask(gateway)).statusCode, 500);
    deepEqual(testbed.counts, { a: 1, b: 0, c: 0 });
  });

  it('does not happen for requests without a prompt', async () => {
    const gateway = await testbed.serve(chain);
    equal((await ask(gateway, {})).statusCode, 400);
    deepEqual(testbed.counts, { a: 0, b: 0, c: 0 });
  });

  it('does not happen after the last provider, whose status 429 and Retry-After reach the client', async () => {
    testbed.respond.a = failing(500);
    testbed.respond.b = failing(429, { 'Retry-After': '7' });
    const gateway = await testbed.serve({ routes: [{ provider: 'a', failover: 'b' }] });
    const { statusCode, headers } = await ask(gateway);
    deepEqual([statusCode, headers['retry-after'], headers['x-ai-provider']], [429, '7', undefined]);
  });

  it('skips a provider that cools down for as long as Retry-After demands', async () => {
    testbed.respond.a = failing(429, { 'Retry-After': '60' });
    const gateway = await testbed.serve({ ...chain, cooldown: '1ms' });
    for (let round = 0; round < 3; round++) equal((await ask(gateway)).headers['x-ai-provider'], 'b');
    deepEqual(testbed.counts, { a: 1, b: 3, c: 0 });
  });

  it('uses a provider during its cooldown only if all others fail', async () => {
    testbed.respond.a = failing(429, { 'Retry-After': '60' });
    const gateway = await testbed.serve(chain);
    await ask(gateway);
    testbed.reset();
    testbed.respond.b = failing(500);
    testbed.respond.c = failing(500);
    equal((await ask(gateway)).headers['x-ai-provider'], 'a');
  });

  it('begins with the first provider for each request if cooldown is 0s', async () => {
    testbed.respond.a = failing(500);
    const gateway = await testbed.serve({ ...chain, cooldown: '0s' });
    await ask(gateway);
    await ask(gateway);
    deepEqual(testbed.counts, { a: 2, b: 2, c: 0 });
  });

  it('does not happen after the client has disconnected', async () => {
    testbed.respond.a = () => {};
    const gateway = await testbed.serve(chain);
    const { port } = await gateway.listen();
    const leaving = new AbortController();
    const sent = fetch(`http://127.0.0.1:${port}/ask`, {
      method: 'POST',
      body: '{"contents":"hi"}',
      signal: leaving.signal,
    }).catch(() => null);
    await until(() => testbed.counts.a === 1);
    leaving.abort();
    await sent;
    await until(() => testbed.lines.some((line) => line.includes('499')));
    deepEqual(testbed.counts, { a: 1, b: 0, c: 0 });
  });

  it('is logged without the prompt', async () => {
    testbed.respond.a = failing(503);
    const gateway = await testbed.serve(chain);
    await ask(gateway, { contents: 'a secret prompt' });
    const line = testbed.lines.find((each) => each.includes('[AI Router] provider "a" failed'));
    ok(line?.includes('status 503; trying "b"'), line);
    ok(!testbed.lines.some((each) => each.includes('a secret prompt')));
  });

  it('omits the headers that name the provider, if so configured', async () => {
    const gateway = await testbed.serve({ ...chain, disable_provider_headers: true });
    const { headers } = await ask(gateway);
    deepEqual([headers['x-ai-provider'], headers['x-ai-model']], [undefined, undefined]);
  });

  it('works through the OpenAI-compatible API, whose responses have one format', async () => {
    testbed.respond.a = failing(503);
    const gateway = await testbed.start(testbed.chatConfigOf(chain));
    const { body, headers } = await ask(gateway, {
      model: 'gateway-model',
      messages: [{ role: 'user', content: 'hi' }],
    });
    const { object, model, usage } = JSON.parse(body);
    deepEqual([object, model, usage.total_tokens], ['chat.completion', 'gateway-model', 7]);
    equal(headers['x-ai-provider'], 'b');
  });
});
