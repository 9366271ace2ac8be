import { deepEqual, equal, match, ok, throws } from 'node:assert/strict';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { adapt } from '../../../plugins/plugin/adapt.ts';
import { until } from '../../support/conditions.ts';
import {
  json,
  openGateway,
  rememberingSinks,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../support/gateway.ts';
import { type ModuleElement, moduleOf, refusalsOf, startModules } from '../../support/modules.ts';
import { PluginFolder } from '../../support/plugin-folder.ts';

// biome-ignore lint/suspicious/noExplicitAny: what handlers get is not typed in JavaScript
type Loose = any;

describe('modules for the extension points of the compatible product', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const passing: ModuleElement = {
    name: 'pass',
    middleware: () => (_ctx: Loose, _request: Loose, next: () => unknown) => next(),
  };
  const config = (extra: object, part: object = {}) => ({
    host: [backend.url],
    endpoints: [{ endpoint: '/a', extra_config: extra, backend: [{ url_pattern: '/b', ...part }] }],
  });
  const middleware = (...name: string[]) => ({ 'plugin/middleware': { name } });
  const refusals = (extra: object, elements: ModuleElement | readonly ModuleElement[], part: object = {}) =>
    refusalsOf(startModules(config(extra, part), elements));
  const start = async (extra: object, elements: ModuleElement | readonly ModuleElement[], options: object = {}) => {
    gateway = await startModules(config(extra), elements, options);
  };

  describe('are found by their names', () => {
    it('rejects an unknown name, and lists the known ones', async () => {
      deepEqual(await refusals(middleware('missing'), [passing, { ...passing, name: 'other' }]), [
        {
          code: 'PLUGIN_UNKNOWN',
          pointer: '/endpoints/0/extra_config/plugin~1middleware/name/0',
          message: 'no loaded plugin provides the middleware "missing"',
          hint: 'one of "pass", "other"',
        },
      ]);
    });

    it('refuses a name that is brought for another kind', async () => {
      const [refusal] = await refusals({ 'plugin/req-resp-modifier': { name: ['pass'] } }, passing);
      deepEqual([refusal?.code, refusal?.pointer.endsWith('/name/0')], ['PLUGIN_UNKNOWN', true]);
    });

    it('offers the name that was meant', async () => {
      equal((await refusals(middleware('pas'), passing))[0]?.hint, 'did you mean "pass"?');
    });

    it('explains how to load modules without any', async () => {
      match((await refusals(middleware('pass'), []))[0]?.hint ?? '', /"plugin": \{"folder": /);
    });

    it('refuses middleware without names', async () => {
      deepEqual(
        (await refusals({ 'plugin/middleware': {} }, passing)).map(({ code }) => code),
        ['SCHEMA_REQUIRED'],
      );
    });

    it('refuses two of one kind by one name, naming both files', async () => {
      const plugins = [moduleOf(passing, '/plugins/a.js'), moduleOf(passing, '/plugins/b.js')];
      const [refusal] = await refusalsOf(startGateway(config({}), { plugins }));
      equal(refusal?.code, 'PLUGIN_DUPLICATE');
      match(refusal?.message ?? '', /"pass": \/plugins\/a\.js and \/plugins\/b\.js$/);
    });

    it('takes one name for two kinds, from two files', async () => {
      const modifier = { name: 'pass', requestModifier: () => () => {} };
      gateway = await startGateway(config({ ...middleware('pass'), 'plugin/req-resp-modifier': { name: ['pass'] } }), {
        plugins: [moduleOf(passing, '/plugins/a.js'), moduleOf(modifier, '/plugins/b.js')],
      });
      equal((await gateway.inject('/a')).statusCode, 200);
    });

    it('warns of settings whose name is not listed', async () => {
      await start({ 'plugin/middleware': { name: [], pass: { a: 1 }, unknown: {} } }, passing);
      deepEqual(
        gateway!.status.warnings.map(({ code, pointer }) => [code, pointer]),
        [['PLUGIN_UNUSED', '/endpoints/0/extra_config/plugin~1middleware/pass']],
      );
    });
  });

  describe('have settings', () => {
    const schema = {
      type: 'object',
      additionalProperties: false,
      required: ['header'],
      properties: { header: { type: 'string' }, times: { type: 'integer', default: 3 } },
    };
    const checked = (seen: unknown[]): ModuleElement => ({
      name: 'set',
      configSchema: schema,
      middleware: (given: unknown) => {
        seen.push(given);
        return (_ctx: Loose, _request: Loose, next: () => unknown) => next();
      },
      requestModifier: (given: unknown) => {
        seen.push(given);
        return () => {};
      },
    });

    it('of their own for middleware, and with the whole namespace for modifiers, defaults filled in', async () => {
      const seen: unknown[] = [];
      const settings = { name: ['set'], set: { header: 'X' }, more: 1 };
      await start({ 'plugin/middleware': settings, 'plugin/req-resp-modifier': settings }, checked(seen));
      const whole = { name: ['set'], set: { header: 'X', times: 3 }, more: 1 };
      deepEqual(seen, [{ header: 'X', times: 3 }, whole]);
    });

    for (const [what, set, pointer, message] of [
      ['a value of another type', { header: 1 }, '/set/header', /header must be string/],
      ['an unknown key', { header: 'X', more: 1 }, '/set', /'more'/],
      ['a missing field', {}, '/set', /must have required property 'header'/],
      ['no settings at all', undefined, '/name', /'header'/],
    ] as const) {
      it(`refuses ${what}`, async () => {
        const [refusal] = await refusals({ 'plugin/middleware': { name: ['set'], ...(set && { set }) } }, checked([]));
        equal(refusal?.code, 'PLUGIN_SETTINGS');
        equal(refusal?.pointer, `/endpoints/0/extra_config/plugin~1middleware${pointer}`);
        match(refusal?.message ?? '', message);
      });
    }

    it('are free without a schema', async () => {
      let seen: unknown;
      const free = {
        ...passing,
        middleware: (given: unknown) => {
          seen = given;
          return (passing['middleware'] as () => unknown)();
        },
      };
      await start({ 'plugin/middleware': { name: ['pass'], pass: { any: [1, { thing: true }] } } }, free);
      deepEqual(seen, { any: [1, { thing: true }] });
    });
  });

  describe('make handlers', () => {
    const made = (factory: (config: unknown, host: Loose) => unknown): ModuleElement => ({
      name: 'made',
      middleware: factory,
    });
    const next = (_ctx: Loose, _request: Loose, goOn: () => unknown) => goOn();

    it('once for each place, also in a promise', async () => {
      const places: unknown[] = [];
      const element = made(async (_config, host) => {
        places.push(host.place);
        return next;
      });
      gateway = await startModules(config(middleware('made'), { extra_config: middleware('made') }), element);
      equal((await gateway.inject('/a')).statusCode, 200);
      equal((await gateway.inject('/a')).statusCode, 200);
      deepEqual(places, [
        { kind: 'endpoint', method: 'GET', path: '/a' },
        { kind: 'backend', method: 'GET', path: '/a', backend: { method: 'GET', urlPattern: '/b' } },
      ]);
    });

    for (const [what, factory, reason] of [
      ['throws', () => Promise.reject(new Error('no luck')), /no luck/],
      ['throws at once', () => fail('no luck'), /no luck/],
      ['gives nothing', () => undefined, /returned nothing/],
      ['gives something else', () => 'text', /returned no handler/],
      ['gives something else later', async () => ({}), /returned no handler/],
    ] as const) {
      it(`refuses the configuration when a factory ${what}`, async () => {
        const [refusal] = await refusals(middleware('made'), made(factory));
        equal(refusal?.code, 'PLUGIN_FACTORY');
        equal(refusal?.pointer, '/endpoints/0/extra_config/plugin~1middleware/name/0');
        match(refusal?.message ?? '', /the middleware "made" of \/plugins\/test\.js: /);
        match(refusal?.message ?? '', reason);
      });
    }

    it('keeps the old configuration when the factory of a new one fails', async () => {
      let isBroken = false;
      await start(
        middleware('made'),
        made(() => (isBroken ? fail('no luck') : next)),
      );
      isBroken = true;
      await gateway!.reload({ version: 3, ...config(middleware('made')), timeout: '1s' } as Loose).then(
        () => fail('accepted'),
        (error: unknown) => ok(error instanceof ConfigErrors),
      );
      equal((await gateway!.inject('/a')).statusCode, 200);
    });

    it('gives everything back when the last configuration with them is gone, in reverse order', async () => {
      const seen: string[] = [];
      const element = {
        ...made((_config, host) => {
          host.onDispose(() => seen.push('first'));
          host.onDispose(async () => seen.push('second'));
          return next;
        }),
        dispose: () => seen.push('module'),
      };
      await start(middleware('made'), element);
      await gateway!.reload({ version: 3, ...config(middleware('made')), timeout: '1s' } as Loose);
      await until(() => seen.length === 2);
      deepEqual(seen.splice(0), ['second', 'first']);
      await gateway!.close();
      gateway = undefined;
      deepEqual(seen.sort(), ['first', 'module', 'second']);
    });

    it('gives back what a factory made that came to its end after the configuration was given up', async () => {
      let dispose: unknown;
      const broken = { ...made(() => fail('no luck')), name: 'broken' };
      let finish: () => void = () => {};
      const late = made(async (_config, host) => {
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        host.onDispose(() => {
          dispose = 'done';
        });
        return next;
      });
      await refusals(middleware('made', 'broken'), [late, broken]);
      finish();
      await until(() => dispose === 'done');
    });
  });

  describe('get from their host', () => {
    const withHost = (use: (host: Loose) => unknown): ModuleElement => ({
      name: 'host',
      middleware: (_config: unknown, host: unknown) => async () => ({ data: { given: await use(host) } }),
    });
    const given = async (use: (host: Loose) => unknown, options: object = {}, root: object = {}): Promise<Loose> => {
      gateway = await startModules({ ...config(middleware('host')), ...root }, withHost(use), options);
      return JSON.parse((await gateway.inject('/a')).body).given;
    };

    it('a log with their name', async () => {
      const sinks = rememberingSinks();
      await given((host) => host.logger.info('hello'), { sinks });
      ok(sinks.lines.some((line) => /INFO.*\[ENDPOINT: \/a\].*\[PLUGIN: host\].*hello/.test(line)));
    });

    it('the version of the gateway, and values of the environment', async () => {
      process.env['MODULE_TEST'] = 'hidden';
      const got = await given((host) => [host.gatewayVersion, host.secrets.get('MODULE_TEST')]);
      delete process.env['MODULE_TEST'];
      match(got[0], /^\d+\.\d+/);
      equal(got[1], 'hidden');
    });

    it('instruments without effect if nothing is exported', async () => {
      equal(await given((host) => host.metrics.counter('a', { description: 'A.' }).add(1) ?? 'counted'), 'counted');
    });

    it('instruments of the exporter where there is one, and the time of their own calls is among its values', async () => {
      const root = { extra_config: { 'telemetry/metrics': { collection_time: '1s', listen_address: '127.0.0.1:0' } } };
      equal(
        await given((host) => host.metrics.histogram('a', { description: 'A.' }).record(1) ?? 'ok', {}, root),
        'ok',
      );
    });

    it('fetch, by the client of the gateway', async () => {
      const before = backend.requests.length;
      const got = await given(async (host) => {
        const response = await host.fetch(`${backend.url}/x?y=1`, {
          method: 'POST',
          body: 'hello',
          headers: { 'X-A': 'b' },
        });
        return [response.status, response.ok, await response.json(), response.headers.get('content-type')];
      });
      deepEqual(got, [200, true, { ok: true }, 'application/json']);
      const seen = backend.requests[before]!;
      deepEqual(
        [seen.method, seen.target, seen.body.toString(), seen.headers['x-a']],
        ['POST', '/x?y=1', 'hello', 'b'],
      );
      match(seen.headers['user-agent'] ?? '', /^Sluice/);
    });

    it("fetch that fails like the platform's", async () => {
      const got = await given((host) =>
        host.fetch('http://127.0.0.1:1/').catch((error: Error) => [error.name, error.message, String(error.cause)]),
      );
      deepEqual(got.slice(0, 2), ['TypeError', 'fetch failed']);
      match(got[2], /refused/);
    });

    it('fetch that is given up by its signal', async () => {
      const got = await given((host) =>
        host.fetch(`${backend.url}/`, { signal: AbortSignal.abort(new Error('enough')) }).catch(String),
      );
      equal(got, 'Error: enough');
    });
  });

  describe('are of a form', () => {
    const one = { name: 'a', apiVersion: 1, middleware: () => () => null };

    it('as an object, as a list and under the names of ported modules', () => {
      const forms: Record<string, unknown>[] = [
        { plugin: one },
        { plugin: [one, { ...one, name: 'b' }] },
        { MiddlewareRegisterer: one },
        { ModifierRegisterer: { name: 'a', apiVersion: 1, responseModifier: () => () => null } },
        { ClientRegisterer: { name: 'a', apiVersion: 1, httpClient: () => () => null } },
        { HandlerRegisterer: { name: 'a', apiVersion: 1, httpServer: () => () => null } },
        { plugin: one, MiddlewareRegisterer: one },
      ];
      for (const form of forms) equal(adapt(form, '/a.js')?.name, '/a.js');
      equal(adapt(forms[1]!, '/a.js')?.description, 'Brings "a", "b".');
      equal(adapt(forms[6]!, '/a.js')?.description, 'Brings "a".');
    });

    it('that others do not have', () => {
      for (const other of [
        {},
        { plugin: { name: 'acme/x', contract: 1, description: 'X.' } },
        { default: one },
        { plugin: 1 },
      ]) {
        equal(adapt(other, '/a.js'), undefined);
      }
    });

    for (const [what, written, reason] of [
      ['no name', { ...one, name: undefined }, /"name" is missing/],
      ['no version', { ...one, apiVersion: undefined }, /"apiVersion" is missing/],
      ['another version', { ...one, apiVersion: 2 }, /"apiVersion" is 2/],
      ['a field that is none', { ...one, httpclient: () => {} }, /unknown field 'httpclient'/],
      ['isolation that is neither yes nor no', { ...one, isolate: 'yes' }, /"isolate" is neither true nor false/],
      ['isolation, which comes too late here', { ...one, isolate: true }, /was imported before it declared/],
      ['nothing that it brings', { name: 'a', apiVersion: 1 }, /brings nothing/],
      ['a factory that is none', { ...one, middleware: {} }, /"middleware" is not a function/],
      ['a dispose that is not a function', { ...one, dispose: 1 }, /"dispose" is not a function/],
      [
        'a schema that is none',
        { ...one, configSchema: { type: 'nothing' } },
        /"configSchema" is not a valid JSON Schema/,
      ],
      ['a schema that is no object', { ...one, configSchema: 1 }, /"configSchema" is not a valid JSON Schema/],
    ] as const) {
      it(`with ${what} is rejected`, () => {
        throws(
          () => adapt({ plugin: written }, '/a.js'),
          (error: Error & { code?: string }) => {
            equal(error.code, 'PLUGIN_MODULE');
            match(error.message, /^\/a\.js: /);
            match(error.message, reason);
            return true;
          },
        );
      });
    }

    it('under the name of another kind is rejected', () => {
      throws(() => adapt({ ClientRegisterer: one }, '/a.js'), /ClientRegisterer brings no httpClient/);
    });
  });

  describe('come from files', () => {
    let folder: PluginFolder;

    beforeEach(() => {
      folder = new PluginFolder();
    });
    afterEach(() => folder.remove());

    const source = (value: string) => `
      export const plugin = {
        name: 'team',
        apiVersion: 1,
        middleware: (config) => async (ctx, request, next) => {
          const response = await next(request);
          response.headers['X-Team'] = '${value}';
          return response;
        },
      };`;
    const document = () => ({
      version: 3,
      plugin: { folder: join(folder.path, 'plugins/') },
      ...config(middleware('team')),
    });
    const open = async (options: object = {}) => {
      folder.write('gateway.json', JSON.stringify(document()));
      gateway = await openGateway(join(folder.path, 'gateway.json'), {
        port: 0,
        sinks: rememberingSinks(),
        ...options,
      });
    };
    const team = async () => (await gateway!.inject('/a')).headers['x-team'];

    it('which are replaced when they are saved', async () => {
      folder.write('plugins/team.js', source('a'));
      await open();
      await gateway!.watch();
      equal(await team(), 'a');
      folder.write('plugins/team.js', source('b'));
      await until(async () => (await team()) === 'b');
    });

    it('counted by kind in the log', async () => {
      const sinks = rememberingSinks();
      folder.write('plugins/team.js', source('a'));
      folder.write('plugins/teams.js', source('a').replace("'team'", "'teams'"));
      await open({ sinks });
      equal(sinks.lines.filter((line) => line.includes('Total plugins loaded: 2 (middleware)')).length, 1);
      ok(sinks.lines.some((line) => line.includes('Total plugins loaded: 0 (HTTP client)')));
    });

    it('and are rejected with the place that names their folder when they are of a wrong form', async () => {
      folder.write('plugins/team.js', source('a').replace('apiVersion: 1', 'apiVersion: 2'));
      const [refusal, ...others] = await refusalsOf(open().then(() => gateway!));
      // Not that nobody brings it.
      deepEqual([refusal?.code, refusal?.pointer, others], ['PLUGIN_MODULE', '/plugin/folder', []]);
      match(refusal?.message ?? '', /team\.js: plugin "team": "apiVersion" is 2/);
    });
  });
});

function fail(message: string): never {
  throw new Error(message);
}
