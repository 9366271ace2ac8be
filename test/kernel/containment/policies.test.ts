import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict';
import {
  type ByteStream,
  defineSlot,
  type EndpointSite,
  before as looksFirst,
  after as looksLast,
  type PipeRequest,
  type Reply,
  type Step,
} from '#contract';
import type { Operations } from '#kernel';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';
import {
  type AnyWrap,
  type ContainedOptions,
  containedConfig,
  filePlugin,
  type Hooks,
  startContained,
} from './support.ts';

const boom = (): never => {
  throw new TypeError('boom');
};

/** What a test does around the rest, whatever the rest is of. */
const around =
  (hook: <R>(next: Step<R>, ...args: Parameters<Step<R>>) => Reply | Promise<Reply>): AnyWrap =>
  (next) =>
  (request, call) =>
    hook(next, request as never, call);

describe('policies for faults in plugins from files', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let lines: readonly string[];

  const start = async (hooks: Hooks, options: ContainedOptions = {}): Promise<void> => {
    ({ gateway, lines } = await startContained(import.meta.url, backend.url, hooks, options));
  };
  const ask = (path = '/a', options = {}) => gateway.inject({ url: path, ...options });
  const count = (): number => gateway.containment.records.reduce((sum, { faultCount }) => sum + faultCount, 0);

  beforeEach(async () => {
    backend = await startBackend(json({ a: 1 }));
  });
  afterEach(async () => {
    await gateway?.close();
    await backend.close();
  });

  describe('skipped', () => {
    const policy = { on_error: 'skip' };

    for (const [what, hooks] of [
      ['the service', { service: { request: () => boom } }],
      ['an endpoint', { endpoint: { endpoint: () => boom } }],
      ['a pipe', { endpoint: { proxy: () => boom } }],
      ['a backend', { backend: { backend: () => boom } }],
      ['a transport', { backend: { transport: () => boom } }],
      ['a pipe, that looks at the request', { endpoint: { proxy: looksFirst(boom) } }],
      ['a pipe, that looks at the reply', { endpoint: { proxy: looksLast(boom) } }],
      ['a pipe, later', { endpoint: { proxy: () => async () => boom() } }],
      ['a pipe, and returns no reply', { endpoint: { proxy: () => () => undefined as unknown as Reply } }],
      ['a backend, that shapes its data', { backend: { shape: boom } }],
      ['the middleware of Koa', { service: { middleware: boom } }],
    ] as const satisfies readonly (readonly [string, Hooks])[]) {
      it(`leave the answer as if the hook were not there: ${what}`, async () => {
        await start(hooks as Hooks, { policy });
        const { statusCode, body } = await ask();
        deepEqual([statusCode, body, count()], [200, '{"a":1}', 1]);
      });
    }

    it('leave the request as it was before the hook', async () => {
      const spoil: AnyWrap = looksFirst((given) => {
        const request = given as PipeRequest;
        request.headers.set('X-Spoiled', 'yes');
        request.headers.delete('x-kept');
        request.body = null;
        boom();
      });
      await start(
        { endpoint: { endpoint: spoil, proxy: spoil }, backend: { backend: spoil } },
        {
          policy,
          endpoint: {
            method: 'POST',
            input_headers: ['*'],
            backend: [{ url_pattern: '/', extra_config: { 'acme/test': {} } }],
          },
        },
      );
      equal((await ask('/a', { method: 'POST', payload: 'body', headers: { 'x-kept': 'kept' } })).statusCode, 200);
      const [seen] = backend.requests;
      deepEqual([seen!.headers['x-kept'], seen!.headers['x-spoiled'], String(seen!.body)], ['kept', undefined, 'body']);
    });

    it('leave the reply as it was when it came to the hook', async () => {
      const spoil: AnyWrap = around(async (next, request, call) => {
        const reply = await next(request, call);
        reply.status = 418;
        reply.headers.set('X-Spoiled', 'yes');
        reply.data = { other: true };
        return boom();
      });
      await start({ endpoint: { endpoint: spoil, proxy: spoil }, backend: { backend: spoil } }, { policy });
      const { statusCode, headers, body } = await ask();
      deepEqual([statusCode, headers['x-spoiled'], body, count()], [200, undefined, '{"a":1}', 3]);
    });

    it('find the reply also where the hook went on with a part of the call', async () => {
      const slot = defineSlot<number>('test of a part');
      const wrap: AnyWrap = around(async (next, request, call) => {
        await next(request, call.with(slot, 1));
        return boom();
      });
      await start({ endpoint: { proxy: wrap } }, { policy });
      equal((await ask()).body, '{"a":1}');
      equal(backend.requests.length, 1);
    });

    it('keep requests apart that are in the hook at one time', async () => {
      const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let at = 0;
      const wrap: AnyWrap = around(async (next, request, call) => {
        const own = at++;
        const reply = await next(request, call);
        await gates[own]!.promise;
        return own === 0 ? boom() : reply;
      });
      let asked = 0;
      await backend.close();
      backend = await startBackend((_seen, response) => response.end(JSON.stringify({ n: asked++ })));
      await start({ endpoint: { proxy: wrap } }, { policy });
      const both = [ask(), ask()];
      for (const { resolve } of gates.reverse()) resolve();
      deepEqual((await Promise.all(both)).map(({ body }) => body).sort(), ['{"n":0}', '{"n":1}']);
      equal(count(), 1);
    });

    it('refuse a request whose body the hook has taken', async () => {
      const take: AnyWrap = looksFirst((given) => {
        const request = given as { body: { take(): unknown } | null };
        request.body!.take();
        boom();
      });
      await start({ endpoint: { endpoint: take } }, { policy, endpoint: { method: 'POST' } });
      equal((await ask('/a', { method: 'POST', payload: 'body' })).statusCode, 500);
    });

    it('refuse a request whose answer the hook has begun to read', async () => {
      const read: AnyWrap = around(async (next, request, call) => {
        const { body } = await next(request, call);
        (body as ByteStream).flow({ write: () => true, end() {}, fail() {} });
        return boom();
      });
      await start({ endpoint: { proxy: read } }, { policy, endpoint: { output_encoding: 'no-op' } });
      equal((await ask()).statusCode, 500);
    });

    it('cannot be skipped where nothing else can do it: the protocol', async () => {
      await start({ backend: { protocol: { call: boom, hostless: true } } }, { policy });
      equal((await ask()).statusCode, 500);
    });

    it('may be skipped for one plugin alone', async () => {
      const policies = { 'acme/test': { on_error: 'skip' } };
      await start({ endpoint: { proxy: () => boom } }, { policy: { on_error: 'refuse', policies } });
      equal((await ask()).statusCode, 200);
      await gateway.reload(
        containedConfig(
          backend.url,
          { endpoint: {} },
          { policy: { on_error: 'skip', policies: { 'acme/test': { on_error: 'refuse' } } } },
        ) as never,
      );
      equal((await ask()).statusCode, 500);
    });
  });

  describe('suspension', () => {
    let fails = true;
    const sometimes: AnyWrap = around((next, request, call) => (fails ? boom() : next(request, call)));
    const hooks: Hooks = { endpoint: { proxy: sometimes } };
    const suspended = (): boolean => gateway.containment.records.some(({ suspension }) => suspension !== null);

    beforeEach(() => {
      fails = true;
    });

    it('comes after as many faults in a row, and refuses at once, with 503', async () => {
      await start(hooks, { policy: { suspend_after: 3 } });
      const events: object[] = [];
      gateway.events.subscribe({ types: ['plugin.*'] }, ({ type, data }) => events.push({ type, ...data }));
      const statuses = [];
      for (let request = 0; request < 5; request++) statuses.push((await ask()).statusCode);
      deepEqual(statuses, [500, 500, 500, 503, 503]);
      equal(count(), 3);
      deepEqual(events, [{ type: 'plugin.suspended', plugin: 'acme/test', faults: 3, message: 'TypeError: boom' }]);
      equal(lines.filter((line) => line.includes('is suspended after 3 faults in a row')).length, 1);
      equal((await ask('/b')).statusCode, 200);
    });

    it('serves without the plugin where its faults are skipped', async () => {
      await start(hooks, { policy: { suspend_after: 2, on_error: 'skip' } });
      for (let request = 0; request < 5; request++) equal((await ask()).statusCode, 200);
      equal(count(), 2);
    });

    it('does not come where a request goes well in between, nor by default', async () => {
      await start(hooks, { policy: { suspend_after: 2 } });
      for (let request = 0; request < 6; request++) {
        fails = request % 2 === 0;
        await ask();
      }
      ok(!suspended());
      fails = true;
      await gateway.reload(containedConfig(backend.url, hooks) as never);
      for (let request = 0; request < 20; request++) equal((await ask()).statusCode, 500);
      ok(!suspended());
    });

    it('holds over reloads of the same content, and not for another content', async () => {
      let hash = 'one';
      const plugin = () => filePlugin(import.meta.url, hooks, { source: { file: '/p.ts', hash, files: ['/p.ts'] } });
      const config = containedConfig(backend.url, hooks, { policy: { suspend_after: 1 } });
      gateway = await startWith([plugin()], config);
      deepEqual([(await ask()).statusCode, (await ask()).statusCode], [500, 503]);
      await gateway.reload({ ...config, name: 'other' } as never);
      equal((await ask()).statusCode, 503);
      await gateway.close();
      hash = 'two';
      gateway = await startWith([plugin()], config);
      equal((await ask()).statusCode, 500);
    });

    it('is lifted by its name', async () => {
      await start(hooks, { policy: { suspend_after: 1 } });
      await ask();
      equal((await ask()).statusCode, 503);
      equal(gateway.containment.lift('acme/other'), false);
      equal(gateway.containment.lift('acme/test'), true);
      equal(gateway.containment.lift('acme/test'), false);
      fails = false;
      equal((await ask()).statusCode, 200);
    });
  });

  it('are a policy that is checked', async () => {
    await rejects(start({}, { policy: { on_error: 'ignore', suspend_after: -1 } }), (error) => {
      ok(error instanceof ConfigErrors);
      deepEqual(
        error.errors.map(({ pointer }) => pointer),
        ['/plugin/on_error', '/plugin/suspend_after'],
      );
      return true;
    });
  });

  it("does not affect a plugin of the release, whose errors are the gateway's", async () => {
    gateway = await startWith(
      [{ ...filePlugin(import.meta.url, { endpoint: { proxy: () => boom } }), source: undefined as never }],
      containedConfig(backend.url, { endpoint: {} }, { policy: { on_error: 'skip' } }),
    );
    equal((await ask()).statusCode, 500);
    equal(gateway.containment.records.length, 0);
  });

  describe('while a plugin is attached', () => {
    const refusal = async (more: object): Promise<ConfigErrors['errors'][number]> => {
      const plugin = filePlugin(import.meta.url, {}, more);
      const error = await startWith([plugin], containedConfig(backend.url, { endpoint: {} })).catch((reason) => reason);
      ok(error instanceof ConfigErrors, String(error));
      return error.errors[0]!;
    };
    const endpoint = (attach: () => never) => ({
      places: [{ at: 'endpoint', schema: { type: 'object', properties: {} }, attach }],
    });

    it('refuse the configuration, with the place in its source', async () => {
      const { code, pointer, message } = await refusal(endpoint(boom));
      deepEqual([code, pointer], ['PLUGIN_ATTACH', '/endpoints/0/extra_config/acme~1test']);
      match(message, /^"acme\/test" cannot be attached: TypeError: boom \(.*policies\.test\.ts:\d+:\d+\)$/);
    });

    it('refuse the configuration where it does not come back', async () => {
      const spin = (): never => {
        for (;;);
      };
      const { code, message } = await refusal(endpoint(spin));
      equal(code, 'PLUGIN_ATTACH');
      match(message, /^"acme\/test" cannot be attached: it did not return: it runs in an endless loop \(.*policies/);
    }).timeout(30_000);

    it('cannot reach what others work with: configuration and encodings are its own, or frozen', async () => {
      const spoil = (site: EndpointSite<{ deep: { list: string[] } }>) => {
        throws(() => site.config.deep.list.push('x'), TypeError);
        throws(() => Object.assign(site.endpoint, { timeout: 0 }), TypeError);
        throws(() => Object.assign(site.endpoint.backend[0]!, { url_pattern: '/x' }), TypeError);
        throws(() => Object.assign(site.encoding('json')!, { encode: boom }), TypeError);
        return {};
      };
      const schema = { type: 'object', properties: {}, values: { type: 'any' } };
      const plugin = filePlugin(import.meta.url, {}, {
        places: [{ at: 'endpoint', schema, attach: spoil }],
      } as never);
      const config = containedConfig(
        backend.url,
        {},
        { endpoint: { extra_config: { 'acme/test': { deep: { list: ['a'] } } } } },
      );
      gateway = await startWith([plugin], config);
      equal((await ask()).body, '{"a":1}');
    });

    for (const [what, value, reason] of [
      ['a promise', Promise.reject(new Error('no')), /returned a promise/],
      ['what is no object', 7, /no object of hooks/],
      ['a hook that is none', { proxy: 'wrap' }, /returned string as "proxy"/],
    ] as const) {
      it(`refuse the configuration where it hands over ${what}`, async () => {
        match((await refusal(endpoint(() => value as never))).message, reason);
      });
    }
  });
});
