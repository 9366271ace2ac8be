import { deepEqual, equal } from 'node:assert/strict';
import type { Operations } from '#kernel';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { refusalsOf } from '../../support/modules.ts';

describe('proxy strategy', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;

  before(async () => {
    backend = await startBackend(json({ id: 7 }));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const pipe = (proxy: object) => ({
    endpoint: '/a',
    extra_config: { proxy },
    backend: [{ url_pattern: '/1' }, { url_pattern: '/{resp0_id}', group: 'b' }],
  });
  const configOf = (endpoint: object) => ({ version: 4, host: [backend.url], endpoints: [endpoint] });
  const targets = async (endpoint: object): Promise<string[]> => {
    const count = backend.requests.length;
    gateway = await startGateway(configOf(endpoint));
    equal((await gateway.inject('/a')).statusCode, 200);
    return backend.requests.slice(count).map(({ target }) => target);
  };

  it('"sequential" calls backends one after another, even with "sequential": false', async () => {
    deepEqual(await targets(pipe({ strategy: 'sequential' })), ['/1', '/7']);
    await gateway!.close();
    deepEqual(await targets(pipe({ strategy: 'sequential', sequential: false })), ['/1', '/7']);
  });

  it('applies to the pipes of components', async () => {
    const nested = (strategy: string) => ({
      endpoint: '/a',
      backend: [{ url_pattern: '/', extra_config: { workflow: { ...pipe({ strategy }), endpoint: '/w' } } }],
    });
    deepEqual(await targets(nested('sequential')), ['/1', '/7']);
    await gateway!.close();
    gateway = undefined;
    const [error] = await refusalsOf(startGateway(configOf(nested('parallel'))));
    equal(error?.code, 'ROUTE_PLACEHOLDER');
  });

  it('"parallel" has precedence over "sequential": true', async () => {
    const [error] = await refusalsOf(startGateway(configOf(pipe({ strategy: 'parallel', sequential: true }))));
    deepEqual([error?.code, error?.pointer], ['ROUTE_PLACEHOLDER', '/endpoints/0/backend/1/url_pattern']);
  });

  for (const strategy of ['Fallback', 'Sequential', 1, null, ['sequential'], { __proto__: null }]) {
    it(`rejects ${JSON.stringify(strategy)} with its location`, async () => {
      const [error] = await refusalsOf(startGateway(configOf(pipe({ strategy, sequential: true }))));
      equal(error?.pointer, '/endpoints/0/extra_config/proxy/strategy');
    });
  }
});
