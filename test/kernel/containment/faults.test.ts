import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BackendError, CallError, before as looksFirst, after as looksLast, Reply, refuse } from '#contract';
import type { Operations } from '#kernel';
import { until } from '../../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { type AnyWrap, type ContainedOptions, type Hooks, startContained } from './support.ts';

const boom = (): never => {
  throw new TypeError('boom');
};

describe('a fault in a plugin from a file', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let lines: readonly string[];

  const start = async (hooks: Hooks, options: ContainedOptions = {}): Promise<void> => {
    ({ gateway, lines } = await startContained(import.meta.url, backend.url, hooks, options));
  };
  const status = async (path = '/a'): Promise<number> => (await gateway.inject(path)).statusCode;
  const faults = () => gateway.containment.records.flatMap((record) => record.faults);
  const errors = (): string[] => lines.filter((line) => line.includes('[PLUGIN:'));

  beforeEach(async () => {
    backend = await startBackend(json({ a: 1 }));
  });
  afterEach(async () => {
    await gateway.close();
    await backend.close();
  });

  const throwing: AnyWrap = () => boom;
  const rejecting: AnyWrap = () => async () => boom();
  const wrong: AnyWrap = () => () => ({ status: 200 }) as Reply;
  const none: AnyWrap = () => async () => undefined as unknown as Reply;

  for (const [what, hooks, hook] of [
    ['throws around all endpoints', { service: { request: throwing } }, 'request'],
    ['throws before the endpoint', { endpoint: { endpoint: throwing } }, 'endpoint'],
    ['throws around the pipe', { endpoint: { proxy: throwing } }, 'proxy'],
    ['throws around a backend', { backend: { backend: throwing } }, 'backend'],
    ['throws before a backend is called', { backend: { transport: throwing } }, 'transport'],
    ['throws in place of the protocol', { backend: { protocol: { call: boom, hostless: true } } }, 'protocol'],
    ['rejects before the endpoint', { endpoint: { endpoint: rejecting } }, 'endpoint'],
    ['rejects around a backend', { backend: { backend: rejecting } }, 'backend'],
    ['returns an invalid reply', { endpoint: { endpoint: wrong } }, 'endpoint'],
    ['resolves to nothing', { endpoint: { proxy: none } }, 'proxy'],
    ['throws in a hook on the reply', { endpoint: { endpoint: looksLast(boom) } }, 'endpoint'],
    ['rejects in a hook on the reply', { endpoint: { proxy: looksLast(async () => boom()) } }, 'proxy'],
    ['throws in a hook on the request', { endpoint: { proxy: looksFirst(boom) } }, 'proxy'],
    ['throws in place of the merge', { endpoint: { combine: boom } }, 'combine'],
    ['throws while data is shaped', { endpoint: { shape: boom } }, 'shape'],
    ['throws while data of a backend is shaped', { backend: { shape: boom } }, 'shape'],
    ['returns no data', { backend: { shape: () => null as never } }, 'shape'],
    ['throws while it calls the backends', { endpoint: { gather: { name: 'first', over: () => boom } } }, 'gather'],
    ['throws as Koa middleware', { service: { middleware: boom } }, 'middleware'],
    ['rejects as Koa middleware', { service: { middleware: async () => boom() } }, 'middleware'],
  ] as const satisfies readonly (readonly [string, Hooks, string])[]) {
    it(`that ${what} fails its request with 500, names the hook, and does not affect other requests`, async () => {
      await start(hooks as Hooks, { backends: hook === 'combine' || hook === 'gather' || 'endpoint' in hooks ? 2 : 1 });
      equal(await status(), 500);
      equal(await status('/b'), 'service' in hooks ? 500 : 200);
      deepEqual([...new Set(faults().map((fault) => fault.hook))], [hook]);
      match(errors()[0]!, new RegExp(`\\[PLUGIN: acme/test\\] hook "${hook}" of (?:GET /a|the service) failed`));
      const others = lines.filter((line) => line.includes('ERROR') && !line.includes('[PLUGIN:'));
      deepEqual(others, []);
    });
  }

  it('is logged with the line of the plugin that caused it', async () => {
    await start({ endpoint: { endpoint: throwing } });
    await status();
    const [fault] = faults();
    const here = fileURLToPath(import.meta.url);
    match(fault!.place!, /faults\.test\.ts:\d+:\d+$/);
    ok(fault!.place!.startsWith(here));
    deepEqual([fault!.endpoint, fault!.message, fault!.count], ['GET /a', 'TypeError: boom', 1]);
    match(errors()[0]!, new RegExp(`failed at ${fault!.place}: TypeError: boom\\\\n.*at boom`, 's'));
  });

  it('is logged at most once a second, with the number of faults that were not logged', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      await start({ endpoint: { endpoint: throwing } });
      for (let request = 0; request < 5; request++) await status();
      equal(errors().length, 1);
      mock.timers.tick(1000);
      equal(errors().length, 2);
      match(errors()[1]!, /TypeError: boom \(4 more in the last second\)$/m);
      mock.timers.tick(2000);
      equal(errors().length, 2);
      await status();
      equal(errors().length, 3);
      equal(faults()[0]!.count, 6);
    } finally {
      mock.timers.reset();
    }
  });

  it('shows the client nothing of the thrown error, even under return_error_msg', async () => {
    const more = { extra_config: { router: { return_error_msg: true } } };
    await start({ endpoint: { proxy: throwing } }, { more });
    const { statusCode, body } = await gateway.inject('/a');
    deepEqual([statusCode, body], [500, 'internal server error']);
  });

  it('in one of two backends keeps the response of the other', async () => {
    await start({ backend: { backend: throwing } }, { backends: 2 });
    const { statusCode, headers, body } = await gateway.inject('/a');
    deepEqual([statusCode, headers['x-gateway-completed'], JSON.parse(body)], [200, 'false', { other0: { a: 1 } }]);
  });

  it('can be any thrown value', async () => {
    const odd = [undefined, null, 'text', Symbol('s'), Object.create(null), new Proxy({}, { get: boom })];
    let at = 0;
    await start({
      endpoint: {
        endpoint: () => () => {
          throw odd[at++];
        },
      },
    });
    for (const _ of odd) equal(await status(), 500);
    equal(faults()[0]!.count, odd.length);
  });

  for (const [what, wrap, expected] of [
    ['an error of a call', () => () => Promise.reject(new CallError('NO', 'no', { view: { status: 403 } })), 403],
    [
      'an error of a call, at once',
      () => (): never => {
        throw new BackendError('NO', 'no');
      },
      500,
    ],
    ['a rejection', () => () => refuse(418), 418],
    ['a failed reply', () => () => Reply.failed(new CallError('NO', 'no')), 500],
  ] as const satisfies readonly (readonly [string, AnyWrap, number])[]) {
    it(`is not reported for a hook that returns ${what}`, async () => {
      await start({ endpoint: { endpoint: wrap } });
      equal(await status(), expected);
      deepEqual([faults(), errors()], [[], []]);
    });
  }

  it('is not reported for Koa middleware that rejects a client', async () => {
    const middleware = (context: unknown) => (context as { throw(status: number): never }).throw(403);
    await start({ service: { middleware } });
    equal(await status(), 403);
    deepEqual(faults(), []);
  });

  it('is attributed to the inner hook, never to the hooks around it', async () => {
    const around: AnyWrap = (next) => async (request, call) => next(request, call);
    await start({
      service: { request: around },
      endpoint: { endpoint: around, proxy: around },
      backend: { backend: throwing },
    });
    equal(await status(), 500);
    deepEqual(
      faults().map(({ hook, count }) => [hook, count]),
      [['backend', 1]],
    );
  });

  it('in a hook that observes responses does not affect the response', async () => {
    await start({ service: { head: boom, finished: boom } });
    equal(await status(), 200);
    deepEqual(
      faults().map(({ hook }) => hook),
      ['head', 'finished'],
    );
  });

  it('that occurs after the request has ended is counted', async () => {
    const { promise, reject } = Promise.withResolvers<Reply>();
    await start({ endpoint: { endpoint: () => () => promise } }, { endpoint: { timeout: '20ms' } });
    equal(await status(), 500);
    await until(() => faults()[0]?.message.includes('deadline') === true);
    reject(new TypeError('late'));
    await promise.catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    equal(faults()[0]!.message, 'TypeError: late');
    equal(await status('/b'), 200);
  });

  it('that occurs after the hook has already returned a response is logged', async () => {
    await start({
      endpoint: {
        proxy: (next) => (request, call) => {
          void next(request, call);
          return Reply.data({ short: true });
        },
      },
      backend: { backend: rejecting },
    });
    equal((await gateway.inject('/a')).body, '{"short":true}');
    await new Promise((resolve) => setImmediate(resolve));
    equal(faults()[0]!.hook, 'backend');
  });
});
