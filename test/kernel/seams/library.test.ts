import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { after as afterReply, atEndpoint, BackendError, CallError, definePlugin, HeaderBag, Reply } from '#contract';
import { GatewayError } from '../../../kernel/contract/internal.ts';
import { ConfigErrors, type Configuration, createGateway, type Gateway } from '../../../kernel/sluice.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { plugin as limiter } from '../../../plugins/qos/ratelimit/router.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';

const stamp = definePlugin({
  name: 'acme/stamp',
  description: 'Stamps.',
  places: [
    atEndpoint(
      { type: 'object', properties: { text: { type: 'string', description: 'What.', default: 'ok' } } },
      ({ config }) => ({ endpoint: afterReply((reply) => reply.headers.set('X-Stamp', config.text)) }),
    ),
  ],
});

describe('a gateway used as a library', () => {
  let backend: TestBackend;
  let gateway: Gateway | undefined;
  const options = { port: 0, sinks: silentSinks };

  before(async () => {
    backend = await startBackend(json({ a: 1 }));
  });
  after(() => backend.close());
  afterEach(() => gateway?.close());

  const stamped = (config: object): Configuration => ({
    version: 3,
    host: [backend.url],
    endpoints: [{ endpoint: '/x', extra_config: { 'acme/stamp': config }, backend: [{ url_pattern: '/' }] }],
  });

  it('accepts plugins in addition to the built-in ones', async () => {
    gateway = await createGateway(stamped({ text: 'hi' }), { ...options, plugins: [stamp] });
    equal((await gateway.inject('/x')).headers['x-stamp'], 'hi');
  });

  it('rejects invalid settings of such plugins', async () => {
    await rejects(createGateway(stamped({ txt: 'hi' }), { ...options, plugins: [stamp] }), (error) => {
      ok(error instanceof ConfigErrors);
      match(error.message, /SCHEMA_UNKNOWN_KEY/);
      match(String(error), /^ConfigErrors: /);
      return true;
    });
  });

  it('rejects a plugin whose name is in use', async () => {
    await rejects(
      createGateway(stamped({}), { ...options, plugins: [stamp, stamp] }),
      /a plugin named "acme\/stamp" already exists/,
    );
    await rejects(createGateway({ version: 3 }, { ...options, plugins: [limiter] }), /qos\/ratelimit\/router/);
  });

  it('rejects plugins given in code together with workers', async () => {
    const workers = { count: 1, program: 'x', args: [] };
    await rejects(
      createGateway({ version: 3 }, { ...options, workers, plugins: [stamp] }),
      /cannot be used with workers/,
    );
  });

  it('has a typed configuration', () => {
    const good: Configuration = {
      version: 3,
      timeout: '3s',
      '@comment': 'anything',
      endpoints: [{ endpoint: '/a/{id}', method: 'POST', backend: [{ url_pattern: '/b', allow: ['id'] }] }],
    };
    // @ts-expect-error an unknown field
    const misspelled: Configuration = { version: 3, endpont: [] };
    // @ts-expect-error no list of endpoints
    const wrong: Configuration = { version: 3, endpoints: [{ endpoint: [], backend: [] }] };
    // @ts-expect-error durations are text
    const number: Configuration = { version: 3, timeout: 3 };
    // @ts-expect-error an unknown method
    const fetch: Configuration = { version: 3, endpoints: [{ endpoint: '/', method: 'FETCH', backend: [] }] };
    deepEqual(
      [good, misspelled, wrong, number, fetch].map(({ version }) => version),
      [3, 3, 3, 3, 3],
    );
  });
});

describe('a class of the plugin contract', () => {
  it('recognizes instances from another copy of the package', async () => {
    const other = (await import(
      `../../../kernel/contract/errors.ts?copy=${Date.now()}`
    )) as typeof import('../../../kernel/contract/errors.ts');
    const error = new other.BackendError('X', 'x', { upstreamStatus: 418 });
    ok(error instanceof BackendError);
    ok(error instanceof CallError);
    ok(error instanceof GatewayError);
    ok(!(error instanceof Reply));
    ok(!(new other.CallError('X', 'x') instanceof BackendError));
  });

  it('recognizes only instances of itself if a plugin defines it as a subclass of CallError', () => {
    class Mine extends CallError {}
    class Yours extends CallError {}
    ok(new Mine('X', 'x') instanceof Mine);
    ok(new Mine('X', 'x') instanceof CallError);
    ok(!(new Mine('X', 'x') instanceof Yours));
    ok(!(new CallError('X', 'x') instanceof Mine));
  });

  it('does not recognize other objects', () => {
    for (const value of [null, undefined, 1, 'x', {}, new Error('x'), new HeaderBag()])
      ok(!((value as unknown) instanceof Reply));
  });
});
