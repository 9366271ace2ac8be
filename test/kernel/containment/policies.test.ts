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

/** A hook of the test around the rest of any pipeline. */
const around =
  (hook: <R>(next: Step<R>, ...args: Parameters<Step<R>>) => Reply | Promise<Reply>): AnyWrap =>
  (next) =>
  (request, call) =>
    hook(next, request as never, call);

describe('policies for faults of plugins from files', () => {
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

  describe('with on_error: skip', () => {
    const policy = { on_error: 'skip' };

    for (const [what, hooks] of [
      ['the service', { service: { request: () => boom } }],
      ['an endpoint', { endpoint: { endpoint: () => boom } }],
      ['a pipe', { endpoint: { proxy: () => boom } }],
      ['a backend', { backend: { backend: () => boom } }],
      ['a transport', { backend: { transport: () => boom } }],
      ['a pipe, in a hook on the request', { endpoint: { proxy: looksFirst(boom) } }],
      ['a pipe, in a hook on the reply', { endpoint: { proxy: looksLast(boom) } }],
      ['a pipe, asynchronously', { endpoint: { proxy: () => async () => boom() } }],
      ['a pipe, and returns no reply', { endpoint: { proxy: () => () => undefined as unknown as Reply } }],
      ['a backend whose data it shapes', { backend: { shape: boom } }],
      ['Koa middleware', { service: { middleware: boom } }],
    ] as const satisfies readonly (readonly [string, Hooks])[]) {
      it(`leave the response as if the hook did not exist: a hook around ${what}`, async () => {
        await start(hooks as Hooks, { policy });
        const { statusCode, body } = await ask();
        deepEqual([statusCode, body, count()], [200, '{"a":1}', 1]);
      });
    }

    it('restore the request as it was before the hook', async () => {
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

    it('restore the reply as it was before the hook', async () => {
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

    it('use the reply of the backend even if the hook changed the call', async () => {
      const slot = defineSlot<number>('test of a part');
      const wrap: AnyWrap = around(async (next, request, call) => {
        await next(request, call.with(slot, 1));
        return boom();
      });
      await start({ endpoint: { proxy: wrap } }, { policy });
      equal((await ask()).body, '{"a":1}');
      equal(backend.requests.length, 1);
    });

    it('distinguish concurrent requests in the same hook', async () => {
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

    it('fail a request whose body the hook has consumed', async () => {
      const take: AnyWrap = looksFirst((given) => {
        const request = given as { body: { take(): unknown } | null };
        request.body!.take();
        boom();
      });
      await start({ endpoint: { endpoint: take } }, { policy, endpoint: { method: 'POST' } });
      equal((await ask('/a', { method: 'POST', payload: 'body' })).statusCode, 500);
    });

    it('fail a request if the hook has begun to read the response', async () => {
      const read: AnyWrap = around(async (next, request, call) => {
        const { body } = await next(request, call);
        (body as ByteStream).flow({ write: () => true, end() {}, fail() {} });
        return boom();
      });
      await start({ endpoint: { proxy: read } }, { policy, endpoint: { output_encoding: 'no-op' } });
      equal((await ask()).statusCode, 500);
    });

    it('fail the request if the hook is the protocol, which nothing can replace', async () => {
      await start({ backend: { protocol: { call: boom, hostless: true } } }, { policy });
      equal((await ask()).statusCode, 500);
    });

    it('can be set for one plugin', async () => {
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

  describe('with suspension', () => {
    let fails = true;
    const sometimes: AnyWrap = around((next, request, call) => (fails ? boom() : next(request, call)));
    const hooks: Hooks = { endpoint: { proxy: sometimes } };
    const suspended = (): boolean => gateway.containment.records.some(({ suspension }) => suspension !== null);

    beforeEach(() => {
      fails = true;
    });

    it('suspend a hook after the configured number of consecutive faults; requests that need it are then answered 503', async () => {
      await start(hooks, { policy: { suspend_after: 3 } });
      const events: object[] = [];
      gateway.events.subscribe({ types: ['plugin.*'] }, ({ type, data }) => events.push({ type, ...data }));
      const statuses = [];
      for (let request = 0; request < 5; request++) statuses.push((await ask()).statusCode);
      deepEqual(statuses, [500, 500, 500, 503, 503]);
      equal(count(), 3);
      deepEqual(events, [{ type: 'plugin.suspended', plugin: 'acme/test', faults: 3, message: 'TypeError: boom' }]);
      equal(lines.filter((line) => line.includes('is suspended after 3 consecutive faults')).length, 1);
      equal((await ask('/b')).statusCode, 200);
    });

    it('serve without a suspended plugin under on_error: skip', async () => {
      await start(hooks, { policy: { suspend_after: 2, on_error: 'skip' } });
      for (let request = 0; request < 5; request++) equal((await ask()).statusCode, 200);
      equal(count(), 2);
    });

    it('do not suspend a hook that succeeds in between, nor by default', async () => {
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

    it('keep the suspension over reloads of the same file content only', async () => {
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

    it('lift the suspension by the name of the plugin', async () => {
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

  it('are validated with the rest of the configuration', async () => {
    await rejects(start({}, { policy: { on_error: 'ignore', suspend_after: -1 } }), (error) => {
      ok(error instanceof ConfigErrors);
      deepEqual(
        error.errors.map(({ pointer }) => pointer),
        ['/plugin/on_error', '/plugin/suspend_after'],
      );
      return true;
    });
  });

  it("do not apply to a built-in plugin, whose errors are the gateway's", async () => {
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

    it('reject the configuration if the attach function of the plugin throws, with the place of the error in the source', async () => {
      const { code, pointer, message } = await refusal(endpoint(boom));
      deepEqual([code, pointer], ['PLUGIN_ATTACH', '/endpoints/0/extra_config/acme~1test']);
      match(message, /^"acme\/test" cannot be attached: TypeError: boom \(.*policies\.test\.ts:\d+:\d+\)$/);
    });

    it('reject the configuration if the attach function of the plugin never returns', async () => {
      const spin = (): never => {
        for (;;);
      };
      const { code, message } = await refusal(endpoint(spin));
      equal(code, 'PLUGIN_ATTACH');
      match(message, /^"acme\/test" cannot be attached: its code runs in an endless loop \(.*policies/);
    }).timeout(30_000);

    it('pass the plugin its own or a frozen configuration and frozen encodings, not shared objects', async () => {
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

    for (const [what, attach, reason] of [
      ['a promise', () => Promise.reject(new Error('no')), /returned a promise/],
      ['a number', () => 7, /must return an object of hooks/],
      ['an invalid hook', () => ({ proxy: 'wrap' }), /returned string as "proxy"/],
    ] as const) {
      it(`reject the configuration if the attach function of the plugin returns ${what}`, async () => {
        match((await refusal(endpoint(() => attach() as never))).message, reason);
      });
    }
  });
});
