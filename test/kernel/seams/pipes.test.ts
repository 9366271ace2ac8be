import { deepEqual, equal, match } from 'node:assert/strict';
import { atBackend, atService, definePlugin, type PipeConfig, pipeSchema } from '#contract';
import type { Operations } from '#kernel';
import type { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

/** Answers a backend call with its own pipeline. */
const workflow = definePlugin({
  name: 'test/workflow',
  description: 'Backends in place of a backend.',
  places: [
    atBackend(
      pipeSchema(
        { ignore_errors: { type: 'boolean', description: 'Go on.', default: false } },
        { description: 'Backends in place of this one.', components: ['proxy', 'validation/json-schema'] },
      ),
      ({ pipe }) => ({ protocol: { call: pipe(''), hostless: true, replies: 'data' } }),
    ),
  ],
});

describe('a pipeline inside a component', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ [target.slice(1)]: true }));
    });
  });
  after(() => backend.close());
  afterEach(() => gateway?.close());

  const start = (config: object, plugins = [workflow]) => startWith(plugins, { host: [backend.url], ...config });
  const endpoint = (...backends: object[]) => ({ endpoints: [{ endpoint: '/a/{id}', backend: backends }] });
  const nested = (pipe: object, fields: object = {}) => ({
    url_pattern: '/__workflow',
    extra_config: { 'test/workflow': pipe },
    ...fields,
  });

  async function refusedAs(config: object): Promise<readonly string[]> {
    try {
      gateway = await start(config);
    } catch (error) {
      return (error as ConfigErrors).errors.map(({ code, pointer }) => `${code} ${pointer}`);
    }
    return [];
  }

  it('calls its backends, merges them and inherits other settings', async () => {
    gateway = await start(
      endpoint(
        { url_pattern: '/x' },
        nested({ endpoint: '/w/{id}', backend: [{ url_pattern: '/y{id}', group: 'y' }, { url_pattern: '/z' }] }),
      ),
    );
    const response = await gateway.inject('/a/7');
    deepEqual(response.json(), { x: true, y: { y7: true }, z: true });
    equal(response.headers['x-gateway-completed'], 'true');
  });

  it('has its result shaped by the settings of the backend that it replaces', async () => {
    gateway = await start(
      endpoint(
        { url_pattern: '/x' },
        nested({ backend: [{ url_pattern: '/y' }, { url_pattern: '/z' }] }, { group: 'w' }),
      ),
    );
    deepEqual((await gateway.inject('/a/7')).json(), { x: true, w: { y: true, z: true } });
  });

  it('can contain another pipeline', async () => {
    const inner = nested({ backend: [{ url_pattern: '/deep' }] });
    gateway = await start(endpoint(nested({ backend: [inner] })));
    deepEqual((await gateway.inject('/a/7')).json(), { deep: true });
  });

  it('has its plugins loaded, and its components attached to its backends', async () => {
    const proxy = { static: { strategy: 'always', data: { added: 1 } } };
    gateway = await start(
      endpoint(nested({ backend: [{ url_pattern: '/y', encoding: 'string' }], extra_config: { proxy } })),
    );
    deepEqual((await gateway.inject('/a/7')).json(), { content: '{"y":true}', added: 1 });
  });

  it('is included in lists of routes', async () => {
    gateway = await start(endpoint(nested({ endpoint: '/w', backend: [{ url_pattern: '/y' }] })));
    const [route] = gateway.serving.compiled.routes;
    deepEqual(
      route!.nested.map(({ pointer, config }) => [pointer, config.endpoint]),
      [['/endpoints/0/backend/0/extra_config/test~1workflow', '/w']],
    );
  });

  it('at the service is compiled once for all its users', async () => {
    const steps: unknown[] = [];
    const tools = definePlugin({
      name: 'test/tools',
      description: 'Tools.',
      places: [
        atService(
          {
            type: 'object',
            properties: {
              tools: {
                type: 'array',
                description: 'Tools.',
                items: pipeSchema({}, { description: 'One.' }),
                default: [],
              },
            },
          },
          ({ pipe, config }) => {
            steps.push(pipe('/tools/0'), pipe('/tools/0'), (config.tools[0] as unknown as PipeConfig).timeout);
            return {};
          },
        ),
      ],
    });
    gateway = await start(
      { timeout: '3s', extra_config: { 'test/tools': { tools: [{ backend: [{ url_pattern: '/y' }] }] } } },
      [tools],
    );
    equal(steps[0], steps[1]);
    equal(steps[2], 3000);
    equal(gateway.serving.compiled.nested.length, 1);
  });

  describe('with errors', () => {
    it('is rejected with the place of each error', async () => {
      deepEqual(await refusedAs(endpoint(nested({ backend: [{ url_pattern: '/y', encodin: 'json' }] }))), [
        'SCHEMA_UNKNOWN_KEY /endpoints/0/backend/0/extra_config/test~1workflow/backend/0/encodin',
      ]);
      deepEqual(await refusedAs(endpoint(nested({ backend: [{ url_pattern: '/y/{nope}' }] }))), [
        'ROUTE_PLACEHOLDER /endpoints/0/backend/0/extra_config/test~1workflow/backend/0/url_pattern',
      ]);
      deepEqual(await refusedAs(endpoint(nested({ backend: [{ url_pattern: '/y', encoding: 'jsn' }] }))), [
        'ENCODING_UNKNOWN /endpoints/0/backend/0/extra_config/test~1workflow/backend/0/encoding',
      ]);
    });

    it('is rejected for a component that has no effect there', async () => {
      const extra = { 'qos/ratelimit/router': { max_rate: 1 } };
      deepEqual(await refusedAs(endpoint(nested({ backend: [{ url_pattern: '/y' }], extra_config: extra }))), [
        'PIPE_COMPONENT /endpoints/0/backend/0/extra_config/test~1workflow/extra_config/qos~1ratelimit~1router',
      ]);
    });

    it('is rejected for an unknown component', async () => {
      const extra = { 'qos/nothing': {} };
      match(
        (await refusedAs(endpoint(nested({ backend: [{ url_pattern: '/y', extra_config: extra }] })))).join(),
        /^NAMESPACE_UNKNOWN .*backend~1?.*|^NAMESPACE_UNKNOWN/,
      );
    });
  });
});
