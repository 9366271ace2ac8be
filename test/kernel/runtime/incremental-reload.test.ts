import { deepEqual, ok } from 'node:assert/strict';
import { join } from 'node:path';
import type { ServiceConfig } from '#contract';
import { ConfigText, type Operations } from '#kernel';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { repetitions } from '../../support/budget.ts';
import { openGateway, partsOf, startBackend, type TestBackend } from '../../support/gateway.ts';
import { headerSource, PluginFolder } from '../../support/plugin-folder.ts';

/** Pseudorandom numbers, the same in every run. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Endpoint {
  endpoint: string;
  method?: string;
  [field: string]: unknown;
}

/** A configuration that is changed step by step. */
interface Model {
  endpoints: Endpoint[];
  service: Record<string, unknown>;
  components: Record<string, unknown>;
}

const paths = ['/a', '/b/{id}', '/b/c', '/d/{id}/e', '/f', '/g/*'];
const asked = ['/a', '/a/', '/A', '/b/1', '/b/c', '/d/2/e', '/f?q=1', '/g/x/y', '/nothing', '/a?q=secret', '/api'];

const backends: readonly object[] = [
  { url_pattern: '/plain' },
  { url_pattern: '/other', allow: ['path'] },
  { url_pattern: '/third', mapping: { path: 'where' }, group: 'g' },
  { url_pattern: '/fourth', method: 'POST' },
];

describe('a configuration that reuses its unchanged parts', function () {
  this.timeout(60_000);
  let backend: TestBackend;
  let folder: PluginFolder;

  before(async () => {
    backend = await startBackend(({ method, target, headers }, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ method, path: target, script: headers['x-script'] ?? null, id: 7 }));
    });
  });
  after(() => backend.close());
  beforeEach(() => {
    folder = new PluginFolder();
    folder.write('plugins/header.ts', headerSource('first'));
    folder.write('script.lua', script(0));
  });
  afterEach(() => folder.remove());

  const script = (version: number) => `function mark(request) request:headers('X-Script', 'version ${version}') end`;

  /** Whether to use plugins from files, which make the test slow. */
  let withPlugins = true;
  /** Components that are always configured at the root. */
  let always: Readonly<Record<string, unknown>> = {};

  const documentOf = ({ endpoints, service, components }: Model): object => ({
    version: 3,
    host: [backend.url],
    timeout: '30s',
    ...(withPlugins && { plugin: { folder: join(folder.path, 'plugins/') } }),
    ...service,
    ...(Object.keys({ ...always, ...components }).length > 0 && { extra_config: { ...always, ...components } }),
    endpoints,
  });

  /** Each entry is on its own line, so that most of the text stays the same. */
  const sourceOf = (document: object, form: number): ConfigText =>
    new ConfigText(JSON.stringify(document, null, form === 0 ? 4 : 1), 'json');

  const kinds = (random: (below: number) => number): readonly (() => Record<string, unknown>)[] => [
    () => ({}),
    () => ({ timeout: `${30_000 + random(5)}ms` }),
    () => ({ output_encoding: ['json', 'string', 'no-op', 'yaml'][random(4)] }),
    () => ({ cache_ttl: `${random(3)}s`, input_headers: ['X-A'], input_query_strings: ['q'] }),
    () => (withPlugins ? { extra_config: { 'acme/header': { suffix: String(random(3)) } } } : { timeout: '30234ms' }),
    () => ({
      extra_config: {
        'modifier/lua-proxy': { sources: [join(folder.path, 'script.lua')], pre: 'mark(request.load())' },
      },
    }),
    () => ({ extra_config: { 'validation/cel': [{ check_expr: `req_path != '/b/${random(2)}'` }] } }),
    () => ({ extra_config: { proxy: { static: { data: { extra: random(3) }, strategy: 'always' } } } }),
    () => ({ extra_config: { 'security/cors': { allow_origins: [`http://${random(2)}.test`] } } }),
    ...(always['auth/api-keys'] ? observed(random) : []),
  ];

  /** Values that endpoints offer to components at the root. */
  const observed = (random: (below: number) => number): readonly (() => Record<string, unknown>)[] => [
    () => ({ extra_config: { 'auth/api-keys': { roles: ['user'] } } }),
    () => ({
      extra_config: {
        'auth/api-keys': { roles: ['user'], strategy: 'query_string', identifier: ['q', 'k'][random(2)] },
      },
    }),
    () => ({ extra_config: { 'telemetry/opentelemetry': { proxy: { disable_traces: random(2) === 0 } } } }),
    () => ({ extra_config: { 'documentation/openapi': { summary: `number ${random(3)}` } } }),
  ];

  const services: readonly ((model: Model, random: (below: number) => number) => void)[] = [
    ({ service }, random) => Object.assign(service, { timeout: `${30 + random(3)}s` }),
    ({ service }, random) => Object.assign(service, { name: `service ${random(3)}` }),
    ({ service }, random) => Object.assign(service, { output_encoding: ['json', 'yaml'][random(2)] }),
    ({ components }, random) => Object.assign(components, { router: { return_error_msg: random(2) === 0 } }),
    ({ components }, random) =>
      Object.assign(components, { 'validation/cel': [{ check_expr: `req_path != '/${'af'[random(2)]}'` }] }),
    ({ components }) => Object.assign(components, { 'acme/absent': 1 }),
    ({ components }) => Object.assign(components, { 'security/cors': { allow_origins: ['http://0.test'] } }),
    ({ components }) => {
      for (const name of Object.keys(components)) delete components[name];
    },
  ];

  /** Makes a random change. @returns its description. */
  function change(model: Model, random: (below: number) => number): string {
    const { endpoints, components } = model;
    const made = (path: string): Endpoint => ({
      endpoint: path,
      backend: Array.from({ length: 1 + random(2) }, () => backends[random(backends.length)]),
      ...kinds(random)[random(kinds(random).length)]!(),
    });
    if (components['security/cors'] && random(3) === 0) delete components['security/cors'];
    const what = ['add', 'change', 'change', 'change', 'remove', 'reorder', 'service', 'script', 'plugin', 'nothing'];
    const step = endpoints.length < 4 ? 'add' : what[random(what.length)]!;
    const at = random(Math.max(1, endpoints.length));
    if (step === 'add') {
      const free = paths.filter((path) => endpoints.every(({ endpoint }) => endpoint !== path));
      if (free.length > 0) endpoints.splice(at, 0, made(free[random(free.length)]!));
    } else if (step === 'change' && endpoints.length > 0) endpoints[at] = made(endpoints[at]!.endpoint);
    else if (step === 'remove') endpoints.splice(at, 1);
    else if (step === 'reorder') endpoints.push(...endpoints.splice(0, at));
    else if (step === 'service') services[random(services.length)]!(model, random);
    else if (step === 'script') folder.write('script.lua', script(random(4)));
    else if (step === 'plugin') folder.write('plugins/header.ts', headerSource(`v${random(3)}`));
    return step;
  }

  /** Responses and status of a gateway, without times. */
  async function shown(gateway: Operations): Promise<unknown> {
    const replies = [];
    for (const url of asked) {
      const headers = { origin: 'http://0.test', 'x-a': 'b', authorization: 'Bearer secret' };
      const { statusCode, headers: given, body } = await gateway.inject({ url, headers });
      const { date: _date, ...rest } = given;
      // Lines are sorted, because a change of the order alone is not reported.
      replies.push([url, statusCode, rest, url === '/api' ? body.split('\n').sort() : body]);
    }
    const { hash, warnings } = gateway.status;
    const endpoints = gateway.config.endpoints.toSorted((a, b) => (a.endpoint < b.endpoint ? -1 : 1));
    // Endpoints are compared by their paths, because a configuration that differs only in the order counts as equal.
    const place = (pointer: string) =>
      pointer.replace(/^\/endpoints\/(\d+)/, (_, at) => gateway.config.endpoints[Number(at)]!.endpoint);
    const texts = warnings.map(({ code, pointer, message }) => `${place(pointer)} ${code} ${message}`).sort();
    return { replies, hash, texts, config: { ...gateway.config, endpoints } satisfies ServiceConfig };
  }

  const issues = (error: unknown): unknown => {
    ok(error instanceof ConfigErrors, String(error));
    return error.errors.map(({ code, pointer, message, hint }) => [code, pointer, message, hint]);
  };

  const keys = { keys: [{ key: 'secret', roles: ['user'] }] };
  const listen = '127.0.0.1:0';
  const exporters = { prometheus: [{ name: 'local', listen_ip: '127.0.0.1', port: 0 }] };
  const telemetry = {
    'telemetry/metrics': { listen_address: listen },
    'telemetry/opentelemetry': { exporters, layers: { backend: { metrics: { round_trip: true } } } },
    'auth/api-keys': keys,
    'security/cors': { allow_origins: ['http://0.test'] },
    grpc: { catalog: [] },
  };
  const documented = { ...telemetry, 'documentation/openapi': { serve: { path: '/api' } } };
  const sets = [
    [1, {}],
    [2, {}],
    [3, {}],
    [4, telemetry],
    [5, documented],
  ] as const;
  for (const [seed, components] of sets) {
    const others = Object.keys(components).join(', ');
    it(`responds like one that is built completely, after any change (${seed}) ${others}`, async () => {
      const random = generator(seed);
      withPlugins = seed === 1;
      always = components;
      let model: Model = { endpoints: [], service: {}, components: {} };
      for (let index = 0; index < 5; index++) change(model, random);
      model.components = {};
      const gateway = await openGateway(sourceOf(documentOf(model), 1), { port: 0, sinks: silentSinks });
      let adopted = 0;
      let reread = 0;
      const written = () => (partsOf(gateway).control.current.snapshot.data as { endpoints: object[] }).endpoints;
      try {
        for (let index = 0; index < (withPlugins ? 20 : repetitions(30, 60)); index++) {
          const next = structuredClone(model);
          const steps = [change(next, random)];
          const routes = new Set(partsOf(gateway).generations.current.runtime.compiled.routes);
          if (random(6) === 0) steps.push(change(next, random));
          const document = sourceOf(documentOf(next), seed === 3 ? random(20) : 1);
          if (random(5) === 0) {
            const before = await shown(gateway);
            await gateway.apply({ trigger: 'api', source: document, dryRun: true }).catch(() => {});
            // A dry run must not change what the gateway shows, although it may read scripts of the endpoints that it
            // builds.
            deepEqual(await shown(gateway), before, `${index}: a dry run of ${steps}`);
          }
          const fresh = await openGateway(document, { port: 0, sinks: silentSinks }).catch(issues);
          if (!(fresh as Partial<Operations>).inject) {
            const before = await shown(gateway);
            deepEqual(await gateway.reload(document).catch(issues), fresh, `${index}: mistakes after ${steps}`);
            deepEqual(await shown(gateway), before, `${index}: refused ${steps}`);
            continue;
          }
          try {
            const known = new Set(written());
            await gateway.reload(document);
            reread += written().filter((each) => !known.has(each)).length;
            const { compiled } = partsOf(gateway).generations.current.runtime;
            adopted += compiled.routes.filter((route) => routes.has(route)).length;
            deepEqual(await shown(gateway), await shown(fresh as Operations), `${index}: ${steps}`);
          } finally {
            await (fresh as Operations).close();
          }
          model = next;
        }
        ok(reread < 150, `${reread} endpoints were read again`);
        ok(adopted > 15, `only ${adopted} endpoints were gone on with`);
      } finally {
        await gateway.close();
      }
    });
  }
});
