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

describe('modules for the extension points of KrakenD', () => {
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

  describe('are resolved by name', () => {
    it('with an error that lists the known names for an unknown one', async () => {
      deepEqual(await refusals(middleware('missing'), [passing, { ...passing, name: 'other' }]), [
        {
          code: 'PLUGIN_UNKNOWN',
          pointer: '/endpoints/0/extra_config/plugin~1middleware/name/0',
          message: 'no loaded plugin provides the middleware "missing"',
          hint: 'one of "pass", "other"',
        },
      ]);
    });

    it('and rejected for a name of another module type', async () => {
      const [refusal] = await refusals({ 'plugin/req-resp-modifier': { name: ['pass'] } }, passing);
      deepEqual([refusal?.code, refusal?.pointer.endsWith('/name/0')], ['PLUGIN_UNKNOWN', true]);
    });

    it('and rejected with a suggestion for a misspelled name', async () => {
      equal((await refusals(middleware('pas'), passing))[0]?.hint, 'did you mean "pass"?');
    });

    it('and rejected with an explanation of how to load modules if none is loaded', async () => {
      match((await refusals(middleware('pass'), []))[0]?.hint ?? '', /"plugin": \{"folder": /);
    });

    it('and rejected for middleware without names', async () => {
      deepEqual(
        (await refusals({ 'plugin/middleware': {} }, passing)).map(({ code }) => code),
        ['SCHEMA_EXACTLY_ONE'],
      );
    });

    it('with an error that names both files if two modules of a type share a name', async () => {
      const plugins = [moduleOf(passing, '/plugins/a.js'), moduleOf(passing, '/plugins/b.js')];
      const [refusal] = await refusalsOf(startGateway(config({}), { plugins }));
      equal(refusal?.code, 'PLUGIN_DUPLICATE');
      match(refusal?.message ?? '', /"pass": \/plugins\/a\.js and \/plugins\/b\.js$/);
    });

    it('even if two files define modules of different types with the same name', async () => {
      const modifier = { name: 'pass', requestModifier: () => () => {} };
      gateway = await startGateway(config({ ...middleware('pass'), 'plugin/req-resp-modifier': { name: ['pass'] } }), {
        plugins: [moduleOf(passing, '/plugins/a.js'), moduleOf(modifier, '/plugins/b.js')],
      });
      equal((await gateway.inject('/a')).statusCode, 200);
    });

    it('with a warning about settings for unlisted names', async () => {
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

    it('per name for middleware and for the whole namespace for modifiers, with defaults applied', async () => {
      const seen: unknown[] = [];
      const settings = { name: ['set'], set: { header: 'X' }, more: 1 };
      await start({ 'plugin/middleware': settings, 'plugin/req-resp-modifier': settings }, checked(seen));
      const whole = { name: ['set'], set: { header: 'X', times: 3 }, more: 1 };
      deepEqual(seen, [{ header: 'X', times: 3 }, whole]);
    });

    for (const [what, set, pointer, message] of [
      ['a value of the wrong type', { header: 1 }, '/set/header', /header must be string/],
      ['an unknown key', { header: 'X', more: 1 }, '/set', /'more'/],
      ['a missing field', {}, '/set', /must have required property 'header'/],
      ['missing settings', undefined, '/name', /'header'/],
    ] as const) {
      it(`that are rejected for ${what}`, async () => {
        const [refusal] = await refusals({ 'plugin/middleware': { name: ['set'], ...(set && { set }) } }, checked([]));
        equal(refusal?.code, 'PLUGIN_SETTINGS');
        equal(refusal?.pointer, `/endpoints/0/extra_config/plugin~1middleware${pointer}`);
        match(refusal?.message ?? '', message);
      });
    }

    it('of any form without a schema', async () => {
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

  describe('create handlers', () => {
    const made = (factory: (config: unknown, host: Loose) => unknown): ModuleElement => ({
      name: 'made',
      middleware: factory,
    });
    const next = (_ctx: Loose, _request: Loose, goOn: () => unknown) => goOn();

    it('once for each use, even asynchronously', async () => {
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
      ['throws synchronously', () => fail('no luck'), /no luck/],
      ['returns nothing', () => undefined, /returned nothing/],
      ['returns another value', () => 'text', /returned no handler/],
      ['resolves to another value', async () => ({}), /returned no handler/],
    ] as const) {
      it(`or the configuration is rejected if a factory ${what}`, async () => {
        const [refusal] = await refusals(middleware('made'), made(factory));
        equal(refusal?.code, 'PLUGIN_FACTORY');
        equal(refusal?.pointer, '/endpoints/0/extra_config/plugin~1middleware/name/0');
        match(refusal?.message ?? '', /the middleware "made" of \/plugins\/test\.js: /);
        match(refusal?.message ?? '', reason);
      });
    }

    it('or the old configuration stays active if a new factory fails', async () => {
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

    it('and dispose of them in reverse order when no configuration uses them any longer', async () => {
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

    it('and dispose of a handler whose factory finished after the configuration was discarded', async () => {
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

  describe('receive from their host', () => {
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

    it("the gateway's version and environment variables", async () => {
      process.env['MODULE_TEST'] = 'hidden';
      const got = await given((host) => [host.gatewayVersion, host.secrets.get('MODULE_TEST')]);
      delete process.env['MODULE_TEST'];
      match(got[0], /^\d+\.\d+/);
      equal(got[1], 'hidden');
    });

    it('metrics that have no effect if nothing is exported', async () => {
      equal(await given((host) => host.metrics.counter('a', { description: 'A.' }).add(1) ?? 'counted'), 'counted');
    });

    it('exported metrics, which include the duration of their own calls', async () => {
      const root = { extra_config: { 'telemetry/metrics': { collection_time: '1s', listen_address: '127.0.0.1:0' } } };
      equal(
        await given((host) => host.metrics.histogram('a', { description: 'A.' }).record(1) ?? 'ok', {}, root),
        'ok',
      );
    });

    it("a fetch function that uses the gateway's client", async () => {
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

    it('a fetch function that fails like that of the platform', async () => {
      const got = await given((host) =>
        host.fetch('http://127.0.0.1:1/').catch((error: Error) => [error.name, error.message, String(error.cause)]),
      );
      deepEqual(got.slice(0, 2), ['TypeError', 'fetch failed']);
      match(got[2], /refused/);
    });

    it('a fetch function that can be aborted', async () => {
      const got = await given((host) =>
        host.fetch(`${backend.url}/`, { signal: AbortSignal.abort(new Error('enough')) }).catch(String),
      );
      equal(got, 'Error: enough');
    });
  });

  describe('have a valid form', () => {
    const one = { name: 'a', apiVersion: 1, middleware: () => () => null };

    it('as an object, a list, or with the export names of ported modules', () => {
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
      equal(adapt(forms[1]!, '/a.js')?.description, 'Registers "a", "b".');
      equal(adapt(forms[6]!, '/a.js')?.description, 'Registers "a".');
    });

    it('with types that other products do not have', () => {
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
      ['a missing name', { ...one, name: undefined }, /"name" is missing/],
      ['a missing version', { ...one, apiVersion: undefined }, /"apiVersion" is missing/],
      ['an unsupported version', { ...one, apiVersion: 2 }, /"apiVersion" is 2/],
      ['an unknown field', { ...one, httpclient: () => {} }, /unknown field 'httpclient'/],
      ['a non-boolean "isolated"', { ...one, isolate: 'yes' }, /"isolate" must be true or false/],
      ['"isolated" in an imported file', { ...one, isolate: true }, /was imported before it declared/],
      ['no handlers', { name: 'a', apiVersion: 1 }, /provides nothing/],
      ['an invalid factory', { ...one, middleware: {} }, /"middleware" is not a function/],
      ['a dispose that is not a function', { ...one, dispose: 1 }, /"dispose" is not a function/],
      ['an invalid schema', { ...one, configSchema: { type: 'nothing' } }, /"configSchema" is not a valid JSON Schema/],
      ['a schema that is not an object', { ...one, configSchema: 1 }, /"configSchema" is not a valid JSON Schema/],
    ] as const) {
      it(`or are rejected with ${what}`, () => {
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

    it('or are rejected under the name of another type', () => {
      throws(() => adapt({ ClientRegisterer: one }, '/a.js'), /ClientRegisterer provides no httpClient/);
    });
  });

  describe('are loaded from files', () => {
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

    it('that are reloaded when they are saved', async () => {
      folder.write('plugins/team.js', source('a'));
      await open();
      await gateway!.watch();
      equal(await team(), 'a');
      folder.write('plugins/team.js', source('b'));
      await until(async () => (await team()) === 'b');
    });

    it('and counted by type in the log', async () => {
      const sinks = rememberingSinks();
      folder.write('plugins/team.js', source('a'));
      folder.write('plugins/teams.js', source('a').replace("'team'", "'teams'"));
      await open({ sinks });
      equal(sinks.lines.filter((line) => line.includes('Total plugins loaded: 2 (middleware)')).length, 1);
      ok(sinks.lines.some((line) => line.includes('Total plugins loaded: 0 (HTTP client)')));
    });

    it('or rejected with the location of their folder if they are invalid', async () => {
      folder.write('plugins/team.js', source('a').replace('apiVersion: 1', 'apiVersion: 2'));
      const [refusal, ...others] = await refusalsOf(open().then(() => gateway!));
      // The error differs from that of an unknown name.
      deepEqual([refusal?.code, refusal?.pointer, others], ['PLUGIN_MODULE', '/plugin/folder', []]);
      match(refusal?.message ?? '', /team\.js: plugin "team": "apiVersion" is 2/);
    });
  });
});

function fail(message: string): never {
  throw new Error(message);
}
