import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { openAdmin, type TestAdmin } from '../../admin/support.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { type ModuleElement, moduleOf } from '../../support/modules.ts';

// biome-ignore lint/suspicious/noExplicitAny: what handlers get is not typed in JavaScript
type Loose = any;

/** Handlers of every kind in the KrakenD-compatible form. Each throws an error. */
const boom = (): never => {
  throw new TypeError('boom');
};
const kinds: Readonly<
  Record<string, { handler: Loose; extra: object; at: 'service' | 'endpoint' | 'backend'; place: string }>
> = {
  middleware: {
    handler: () => boom,
    extra: { 'plugin/middleware': { name: ['team'] } },
    at: 'endpoint',
    place: '/name/0',
  },
  requestModifier: {
    handler: () => (request: Loose) => {
      request.headers['x-spoiled'] = ['yes'];
      boom();
    },
    extra: { 'plugin/req-resp-modifier': { name: ['team'] } },
    at: 'endpoint',
    place: '/name/0',
  },
  responseModifier: {
    handler: () => async (response: Loose) => {
      response.data = { spoiled: true };
      boom();
    },
    extra: { 'plugin/req-resp-modifier': { name: ['team'] } },
    at: 'backend',
    place: '/name/0',
  },
  httpClient: { handler: () => boom, extra: { 'plugin/http-client': { name: 'team' } }, at: 'backend', place: '/name' },
  httpServer: {
    handler: () => boom,
    extra: { 'plugin/http-server': { name: ['team'] } },
    at: 'service',
    place: '/name/0',
  },
};

describe('faults of handlers of the KrakenD-compatible form', () => {
  let backend: TestBackend;
  let one: TestAdmin;

  before(async () => {
    backend = await startBackend(json({ a: 1 }));
  });
  after(() => backend.close());
  afterEach(() => one.close());

  const configOf = (extra: object, at: string, policy: object): object => {
    const here = (level: string) => (at === level ? { extra_config: extra } : {});
    return {
      version: 3,
      host: [backend.url],
      plugin: policy,
      ...here('service'),
      endpoints: [
        {
          endpoint: '/a',
          input_headers: ['*'],
          ...here('endpoint'),
          backend: [{ url_pattern: '/', ...here('backend') }],
        },
        { endpoint: '/b', backend: [{ url_pattern: '/' }] },
      ],
    };
  };
  const open = async (kind: string, policy: object, handler = kinds[kind]!.handler): Promise<void> => {
    const { extra, at } = kinds[kind]!;
    const element: ModuleElement = { name: 'team', [kind]: handler };
    const gateway = { plugins: [moduleOf(element), moduleOf({ ...element, name: 'idle' }, '/plugins/idle.js')] };
    one = await openAdmin(configOf(extra, at, policy), { gateway });
  };
  const ask = async () => {
    const { statusCode, body } = await one.gateway.inject({ url: '/a', headers: {} });
    return [statusCode, body] as const;
  };
  const listed = async (name = 'team') =>
    (await one.ask('/v1/plugins')).body.plugins.find((each: { name: string }) => each.name === name);

  for (const [kind, { at, place }] of Object.entries(kinds)) {
    it(`are listed with file, hash, place and hook, and fail the request: ${kind}`, async () => {
      await open(kind, {});
      equal((await ask())[0], 500);
      const { kind: from, file, hash, places, faults, instances } = await listed();
      deepEqual([from, file, hash, instances, places.length], ['file', '/plugins/test.js', 'one', 1, 1]);
      ok(places[0].pointer.endsWith(place), places[0].pointer);
      const [{ hook, count, endpoint, message }] = faults;
      deepEqual(
        [hook, count, endpoint, message],
        [kind, 1, at === 'service' ? 'the service' : 'GET /a', 'TypeError: boom'],
      );
      match((await one.ask('/metrics')).text, /^gateway_plugin_faults_total\{plugin="team"\} 1$/m);
    });

    it(`are skipped if the policy of the handler says so: ${kind}`, async () => {
      await open(kind, { policies: { team: { on_error: 'skip' } } });
      deepEqual(await ask(), [200, '{"a":1}']);
      equal(backend.requests.at(-1)!.headers['x-spoiled'], undefined);
      equal((await listed()).faults[0].count, 1);
    });

    it(`suspend the handler until that is lifted by its name: ${kind}`, async () => {
      let fails = true;
      const { handler } = kinds[kind]!;
      const passing: Record<string, Loose> = {
        middleware: (_context: Loose, request: Loose, next: Loose) => next(request),
        httpClient: (request: Loose) => fetch(request.url),
        httpServer: (request: Loose, next: Loose) => next(request),
      };
      await open(kind, { suspend_after: 2 }, () => {
        const failing = handler();
        return (...args: Loose[]) => (fails ? failing(...args) : passing[kind]?.(...args));
      });
      const statuses = [(await ask())[0], (await ask())[0], (await ask())[0]];
      deepEqual(statuses, [500, 500, 503]);
      equal((await listed()).suspended.message, 'TypeError: boom');
      fails = false;
      equal((await one.ask('/v1/plugins/team/suspension', { method: 'DELETE' })).status, 204);
      equal((await ask())[0], 200);
      equal((await listed()).suspended, null);
    });
  }

  it('exclude errors with a status', async () => {
    await open('middleware', { suspend_after: 1 }, () => () => {
      throw Object.assign(new Error('slow down'), { statusCode: 429 });
    });
    equal((await ask())[0], 429);
    equal((await ask())[0], 429);
    deepEqual((await listed()).faults, []);
  });

  it('are attributed to the handler that throws, not to outer or inner handlers', async () => {
    const passing = () => (_context: Loose, request: Loose, next: Loose) => next(request);
    const extra = { 'plugin/middleware': { name: ['outer', 'team', 'inner'] } };
    const elements = [
      { name: 'outer', middleware: passing },
      { name: 'team', middleware: () => boom },
      { name: 'inner', middleware: passing },
    ];
    one = await openAdmin(configOf(extra, 'endpoint', {}), { gateway: { plugins: [moduleOf(elements)] } });
    equal((await ask())[0], 500);
    const counts = await Promise.all(
      ['outer', 'team', 'inner'].map(async (name) => (await listed(name)).faults.length),
    );
    deepEqual(counts, [0, 1, 0]);
  });

  it('send the message of the error to the client under return_error_msg', async () => {
    const extra = kinds['middleware']!.extra;
    const config = { ...configOf(extra, 'endpoint', {}), extra_config: { router: { return_error_msg: true } } };
    one = await openAdmin(config, { gateway: { plugins: [moduleOf({ name: 'team', middleware: () => boom })] } });
    deepEqual(await ask(), [500, 'boom']);
  });

  it('are absent for an unused module, which is listed without places', async () => {
    await open('middleware', {});
    const { file, places, instances } = await listed('idle');
    deepEqual([file, places, instances], ['/plugins/idle.js', [], 0]);
  });

  it('include a factory function that never returns, which is a configuration error', async () => {
    const spin = (): never => {
      for (;;);
    };
    one = await openAdmin(configOf({}, 'endpoint', {}), {
      gateway: { plugins: [moduleOf({ name: 'team', middleware: spin })] },
    });
    const { errors } = await one.gateway.reload(configOf(kinds['middleware']!.extra, 'endpoint', {}) as never).then(
      () => ({ errors: [] }),
      (error) => error,
    );
    equal(errors[0]?.code, 'PLUGIN_ATTACH');
    match(errors[0].message, /^"team" cannot be attached: its code runs in an endless loop.*\/plugins\/test\.js/);
  }).timeout(30_000);
});
