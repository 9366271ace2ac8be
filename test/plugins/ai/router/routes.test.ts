import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { json, startBackend, type TestBackend } from '../../../support/gateway.ts';
import { ask } from '../llm/fixture.ts';
import { answers, failing, RouterTestbed } from './setup.ts';

describe('the routes of ai/router', function () {
  this.timeout(30_000);
  let testbed: RouterTestbed;
  let chooser: TestBackend;
  let choice: object = { provider: 'b' };

  before(async () => {
    testbed = await RouterTestbed.open();
    chooser = await startBackend((seen, response) => json(choice)(seen, response));
  });
  afterEach(async () => {
    await testbed.closeGateways();
    testbed.reset();
    choice = { provider: 'b' };
  });
  after(async () => {
    await testbed.close();
    await chooser.close();
  });

  const declared = () => ({
    'ai/classifiers': {
      gates: [
        { name: 'premium', rule: 'header', header: { name: 'X-Plan', value: 'premium' } },
        { name: 'code', rule: 'policy', policy: { value: "getHeader('X-Plan').startsWith('prem')" } },
      ],
      classifiers: [{ name: 'smart', engine: 'http', http: { url: `${chooser.url}/choose` } }],
    },
  });
  const serve = (router: object, prices?: Record<string, number>): Promise<Operations> =>
    testbed.serve(router, {}, declared(), prices);
  const providerOf = async (gateway: Operations, headers: Record<string, string> = {}) =>
    (await ask(gateway, undefined, headers)).headers['x-ai-provider'];
  const premium = { 'x-plan': 'premium' };

  it('are tried from top to bottom; a route applies if all its conditions hold', async () => {
    const gateway = await serve({
      routes: [{ gates: ['premium', 'code'], provider: 'b' }, { gates: ['code'], provider: 'c' }, { provider: 'a' }],
    });
    equal(await providerOf(gateway, premium), 'b');
    equal(await providerOf(gateway, { 'x-plan': 'prem' }), 'c');
    equal(await providerOf(gateway), 'a');
  });

  it('can be nested, and continue with the next outer route if no nested one applies', async () => {
    const gateway = await serve({
      routes: [
        { gates: ['code'], routes: [{ gates: ['premium'], provider: 'b' }] },
        { gates: ['code'], routes: [{ gates: ['premium'], provider: 'a' }], provider: 'c' },
        { provider: 'a' },
      ],
    });
    equal(await providerOf(gateway, premium), 'b');
    equal(await providerOf(gateway, { 'x-plan': 'prem' }), 'c');
    equal(await providerOf(gateway), 'a');
  });

  it('reject a request to which no route applies, even if a failover is configured', async () => {
    const gateway = await serve({ routes: [{ gates: ['premium'], provider: 'b' }], failover: 'a' });
    equal((await ask(gateway)).statusCode, 500);
    deepEqual(testbed.counts, { a: 0, b: 0, c: 0 });
    ok(testbed.lines.some((line) => line.includes('matches no route')));
  });

  it('call the provider that a classifier chooses, and after a failure the providers of the failover', async () => {
    const gateway = await serve({
      routes: [{ classifier: 'smart', providers: ['a', 'b'], failover: 'c' }],
      failover: 'a',
      cooldown: '0s',
    });
    equal(await providerOf(gateway), 'b');
    testbed.respond.b = failing(500);
    equal(await providerOf(gateway), 'c');
  });

  it('call the first provider of the failover if a classifier cannot choose, and reject the request without a failover', async () => {
    choice = { provider: 'unknown' };
    const route = { classifier: 'smart', providers: ['a', 'b'] };
    equal(await providerOf(await serve({ routes: [route], failover: 'c' })), 'c');
    equal((await ask(await serve({ routes: [route] }))).statusCode, 500);
    deepEqual(testbed.counts, { a: 0, b: 0, c: 1 });
  });

  it('with the strategy "cost" prefer cheaper providers, and put those with an unknown price last', async () => {
    const gateway = await serve({ routes: [{ providers: ['a', 'b', 'c'], strategy: 'cost' }] }, { b: 3, c: 1 });
    equal(await providerOf(gateway), 'c');
    testbed.respond.c = failing(500);
    equal(await providerOf(gateway), 'b');
    testbed.respond.b = failing(500);
    equal(await providerOf(gateway), 'a');
  });

  it('with the strategy "latency" prefer faster providers, once all have been measured', async () => {
    testbed.respond.a = (seen, response) => void setTimeout(() => answers.openai(seen, response), 100);
    const gateway = await serve({ routes: [{ providers: ['a', 'c'], strategy: 'latency' }] });
    deepEqual([await providerOf(gateway), await providerOf(gateway)], ['a', 'c']);
    for (let round = 0; round < 3; round++) equal(await providerOf(gateway), 'c');
  });

  it('with the strategy "availability" prefer providers that fail less often', async () => {
    const gateway = await serve({ routes: [{ providers: ['a', 'c'], strategy: 'availability' }], cooldown: '0s' });
    testbed.respond.a = failing(500);
    await providerOf(gateway);
    testbed.respond.a = answers.openai;
    equal(await providerOf(gateway), 'c');
  });

  it('with the strategy "weight" distribute requests by weight', async () => {
    const gateway = await serve({
      routes: [{ providers: ['a', 'c'], strategy: 'weight', weights: { c: 1e9, a: 1e-9 } }],
    });
    for (let round = 0; round < 20; round++) equal(await providerOf(gateway), 'c');
  });

  it('use targets with components of their own', async () => {
    testbed.respond.a = failing(500);
    const gateway = await serve({
      routes: [{ provider: 'a', failover: 'b' }],
      targets: [
        {
          provider: 'b',
          backend: [
            {
              extra_config: {
                'ai/llm': { provider: 'b' },
                'modifier/martian': { 'header.Modifier': { scope: ['request'], name: 'X-Team', value: 't' } },
              },
            },
          ],
        },
      ],
    });
    equal(await providerOf(gateway), 'b');
    equal(testbed.servers.b.requests.at(-1)!.headers['x-team'], 't');
  });

  describe('in the configuration', () => {
    const issues = (router: object) => testbed.issues(router, {}, declared());
    for (const [what, route, expected] of [
      ['with an unknown provider', { provider: 'z' }, 'ROUTER_PROVIDER /routes/0/provider'],
      ['with an unknown candidate', { providers: ['a', '__proto__'] }, 'ROUTER_PROVIDER /routes/0/providers/1'],
      ['with an unknown failover', { provider: 'a', failover: ['z'] }, 'ROUTER_PROVIDER /routes/0/failover/0'],
      ['with an unknown gate', { gates: ['premum'], provider: 'a' }, 'ROUTER_GATE /routes/0/gates/0'],
      ['with an unknown classifier', { classifier: 'x', providers: ['a'] }, 'ROUTER_CLASSIFIER /routes/0/classifier'],
      ['without providers', { gates: ['premium'] }, 'ROUTER_ROUTE /routes/0'],
      ['with a provider and providers', { provider: 'a', providers: ['b'] }, 'ROUTER_ROUTE /routes/0/providers'],
      [
        'with a classifier without providers',
        { classifier: 'smart', provider: 'a' },
        'ROUTER_ROUTE /routes/0/classifier',
      ],
      [
        'with a strategy and a classifier',
        { classifier: 'smart', providers: ['a'], strategy: 'cost' },
        'ROUTER_ROUTE /routes/0/strategy',
      ],
      ['with weights without the strategy', { providers: ['a'], weights: { a: 1 } }, 'ROUTER_ROUTE /routes/0/weights'],
      [
        'with a weight for a provider that the route does not list',
        { providers: ['a'], strategy: 'weight', weights: { b: 1 } },
        'ROUTER_ROUTE /routes/0/weights',
      ],
      [
        'with a failover around nested routes',
        { failover: 'a', routes: [{ provider: 'a' }] },
        'ROUTER_ROUTE /routes/0/failover',
      ],
      ['with errors in nested routes', { routes: [{ routes: [{}] }] }, 'ROUTER_ROUTE /routes/0/routes/0/routes/0'],
      ['with unknown fields', { provider: 'a', model: 'x' }, 'SCHEMA_UNKNOWN_KEY /routes/0/model'],
    ] as const) {
      it(`are rejected ${what}`, async () => deepEqual(await issues({ routes: [route] }), [expected]));
    }

    it('are rejected without ai/providers at the root', async () => {
      const config = testbed.configOf({ routes: [{ provider: 'a' }] }) as { extra_config: Record<string, unknown> };
      delete config.extra_config['ai/providers'];
      await rejects(testbed.start(config), /unknown provider "a"/);
    });

    it('are rejected if they have two targets for the same provider', async () => {
      const target = { provider: 'a', backend: [{ extra_config: { 'ai/llm': { provider: 'a' } } }] };
      const found = await issues({ routes: [{ provider: 'a' }], targets: [target, structuredClone(target)] });
      deepEqual(found, ['ROUTER_TARGET /targets/1/provider']);
    });

    it('are rejected within the targets of another router', async () => {
      const inner = { routes: [{ provider: 'b' }] };
      const target = {
        provider: 'a',
        backend: [{ host: ['http://x'], url_pattern: '/', extra_config: { 'ai/router': inner } }],
      };
      const found = await issues({ routes: [{ provider: 'a' }], targets: [target] });
      deepEqual(found, ['ROUTER_TARGET ']);
    });

    it('cause a warning if settings have no effect', async () => {
      const target = { provider: 'b', backend: [{ extra_config: { 'ai/llm': { provider: 'b' } } }] };
      const gateway = await serve({
        ...{ routes: [{ provider: 'a' }], targets: [target], format: 'openai', attempt_timeout: '1h' },
      });
      deepEqual(
        gateway.status.warnings.map(({ code }) => code).filter((code) => code !== 'SECRET_LITERAL'),
        ['LLM_FORMAT', 'TIMEOUT_UNUSED', 'ROUTER_TARGET'],
      );
    });

    it('are rejected at an endpoint whose output encoding passes bytes unchanged', async () => {
      deepEqual(await testbed.issues({ routes: [{ provider: 'a' }] }, { output_encoding: 'no-op' }), [
        'ROUTER_OUTPUT ',
      ]);
    });
  });
});
