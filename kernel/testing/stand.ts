import Koa from 'koa';
import { inject } from 'light-my-request';
import {
  type AtBackend,
  type AtEndpoint,
  type AtService,
  type BackendConfig,
  Call,
  type ClientRequest,
  type ConfigError,
  ConfigErrors,
  copyData,
  type Data,
  type EndpointConfig,
  HeaderBag,
  type Level,
  type Offer,
  PipeRequest,
  type Plugin,
  Reply,
  type Role,
  routerSchema,
  type ServiceConfig,
  type Services,
  type Step,
  serviceSchema,
} from '#contract';
import { compileSchema, type Normalized } from '../config/index.ts';
import type { EndpointContext } from '../pipeline/attachments.ts';
import { fold } from '../pipeline/fold.ts';
import { parallel } from '../pipeline/merge.ts';
import { nesting } from '../pipeline/nested.ts';
import { Offers } from '../pipeline/offers.ts';
import { attach, type Build } from '../pipeline/site.ts';
import { type BuildContext, ConfigBuild } from '../runtime/config-build.ts';
import { ReadFiles } from '../runtime/read-files.ts';
import type { Scope } from '../runtime/scope.ts';
import { ScopedBuild } from '../runtime/scoped-build.ts';
import { testContext } from './test-context.ts';
import { type TestRequest, testRequest } from './test-request.ts';

/** What surrounds the plugin. */
export interface Surroundings {
  readonly services?: Partial<Services>;
  /** What stands inside the plugin. Default: answers 200 with `{"ok":true}`. */
  readonly next?: Step<PipeRequest>;
  /** For an endpoint with several backends; `next` is then not used. */
  readonly backends?: readonly Step<PipeRequest>[];
  /** What other plugins offer it. */
  readonly offers?: readonly Offer[];
  /** Default: alone. */
  readonly role?: Role;
  readonly service?: Partial<ServiceConfig>;
  readonly endpoint?: Partial<EndpointConfig>;
  readonly backend?: Partial<BackendConfig>;
}

/** A plugin standing alone, with no gateway and no socket around it. */
export interface Stand {
  send(request: TestRequest): Promise<Reply>;
  /** Another configuration for the same place, as a reload brings it: kept values pass over. */
  reload(config: unknown): Promise<void>;
  readonly warnings: readonly ConfigError[];
  /** What the plugin handed over. */
  readonly attached: AtService & AtEndpoint & AtBackend;
  /** The ports it opened, in the order in which it asked for them. */
  readonly ports: readonly number[];
  /** What it tells the health endpoint, by name. */
  readonly health: ReadonlyMap<string, () => Data>;
  /** Retires the plugin. @returns what it did not give back; both must be 0. */
  close(): Promise<{ kept: number; deferred: number }>;
}

interface Standing {
  readonly attached: AtService & AtEndpoint & AtBackend;
  readonly scope: Scope;
  readonly warnings: readonly ConfigError[];
  readonly build: Build;
  readonly ports: readonly number[];
  readonly health: ReadonlyMap<string, () => Data>;
}

/**
 * Stands a plugin at one place: validates its configuration, attaches it and folds it around `next`.
 * @throws ConfigErrors when the configuration is refused.
 */
export async function stand(plugin: Plugin, place: Level, config: unknown, around: Surroundings = {}): Promise<Stand> {
  const context = testContext(plugin, around);
  let standing = await standUp(plugin, place, config, around, context);
  return {
    send: (request) => sendTo(standing, place, request, around),
    async reload(next) {
      const successor = await standUp(plugin, place, next, around, context);
      await standing.scope.dispose(rethrow);
      standing = successor;
    },
    get warnings() {
      return standing.warnings;
    },
    get attached() {
      return standing.attached;
    },
    get ports() {
      return standing.ports;
    },
    get health() {
      return standing.health;
    },
    async close() {
      await standing.scope.dispose(rethrow);
      await context.registry.close();
      return { kept: context.keeper.size, deferred: standing.scope.size };
    },
  };
}

function rethrow(error: unknown): never {
  throw error;
}

async function standUp(
  plugin: Plugin,
  level: Level,
  raw: unknown,
  around: Surroundings,
  context: BuildContext,
): Promise<Standing> {
  const config = testService(around.service);
  const normalized: Normalized = { config, errors: [], warnings: [], origin: (pointer) => pointer };
  const whole = new ConfigBuild(normalized, new ReadFiles(), context, 0);
  const build = new ScopedBuild(whole, whole.scope);
  const { registry } = context;
  await registry.load([plugin.name]);
  const endpoint = testEndpoint(around);
  const place = plugin.places?.find((candidate) => candidate.at === level);
  if (!place) throw new Error(`"${plugin.name}" has no place at ${level} level`);
  const offers = new Offers();
  for (const given of around.offers ?? []) offers.add({ ...plugin, offers: [given.port] }, [given]);
  const pipes: Omit<EndpointContext, 'compilePipe'> = {
    build,
    registry,
    service: [],
    offers,
    agent: 'Sluice Version 0.0.0',
    log: build.services.log,
  };
  const stance = {
    pointer: '',
    log: build.services.log,
    offers,
    compilePipe: nesting(pipes, []).compilePipe,
    ...(level !== 'service' && { endpoint }),
    ...(level === 'backend' && { backend: endpoint.backend[0]!, index: 0 }),
  };
  const { scope, starts, ports, health } = whole;
  const { errors, warnings, warmups } = build;
  try {
    const attached = attach<AtService & AtEndpoint & AtBackend>(build, plugin, place, copyData(raw as Data), stance);
    if (!attached || errors.length > 0) throw new ConfigErrors(errors);
    for (const task of warmups) await task(new AbortController().signal);
    const running = new AbortController();
    for (const { run } of starts) void run(running.signal);
    scope.defer(() => running.abort());
    return { attached, scope, warnings, build, health, ports: [...ports.values()].map(({ port }) => port.port) };
  } catch (error) {
    await scope.dispose(rethrow);
    throw error;
  }
}

function testService(given: Partial<ServiceConfig> = {}): ServiceConfig {
  const { value } = compileSchema(serviceSchema)({ version: 3, endpoints: [] }, '');
  const router = compileSchema(routerSchema)({}, '').value;
  return { ...(value as ServiceConfig), router: router as ServiceConfig['router'], ...given };
}

function testEndpoint(around: Surroundings): EndpointConfig {
  const endpoint: EndpointConfig = {
    endpoint: '/test',
    method: 'GET',
    output_encoding: 'json',
    input_headers: [],
    input_query_strings: [],
    concurrent_calls: 1,
    timeout: 2000,
    cache_ttl: 0,
    extra_config: {},
    backend: [],
    ...around.endpoint,
  };
  if (endpoint.backend.length > 0) return endpoint;
  const backend: BackendConfig = {
    url_pattern: '/',
    method: 'GET',
    host: ['http://backend.test'],
    sd: 'static',
    sd_scheme: 'http',
    disable_host_sanitize: false,
    encoding: 'json',
    is_collection: false,
    input_headers: [],
    input_query_strings: [],
    extra_config: {},
    ...around.backend,
  };
  return { ...endpoint, backend: [backend] };
}

function answerOk(): Reply {
  return Reply.data({ ok: true });
}

async function sendTo(standing: Standing, place: Level, given: TestRequest, around: Surroundings): Promise<Reply> {
  const { attached, build } = standing;
  const client = testRequest(given);
  const next = around.next ?? answerOk;
  const call = new Call(build.services.log, around.endpoint?.timeout ?? 2000);
  try {
    if (place === 'service') return await throughKoa(attached, client, next, call);
    const request = new PipeRequest(client, client.params, client.query, client.headers.copy(), client.body);
    if (place === 'backend') {
      const wraps = [attached.backend, attached.transport].filter((wrap) => wrap !== undefined);
      return await fold(wraps, attached.protocol?.call ?? next)(request, call);
    }
    const gathered = around.backends
      ? (attached.gather?.over(around.backends) ??
        parallel(around.backends, attached.combine, around.endpoint?.timeout ?? 2000))
      : next;
    const pipe = attached.proxy ? attached.proxy(gathered) : gathered;
    const forward: Step<ClientRequest> = () => pipe(request, call);
    return await (attached.endpoint ? attached.endpoint(forward) : forward)(client, call);
  } finally {
    call.finish();
  }
}

/** A service-level plugin's Koa middleware around an inner one that answers what `next` answers. */
async function throughKoa(
  attached: AtService,
  client: ClientRequest,
  next: Step<PipeRequest>,
  call: Call,
): Promise<Reply> {
  const app = new Koa();
  app.silent = true;
  app.use(async (ctx, inner) => {
    ctx.state.match = () => null;
    await inner();
  });
  if (attached.router) app.use(attached.router);
  app.use(async (ctx) => {
    const reply = await next(new PipeRequest(client, client.params, client.query, client.headers, client.body), call);
    ctx.status = reply.status;
    for (const [name, value] of reply.headers) ctx.append(name, value);
    ctx.body = reply.data ?? (reply.body as Buffer | null);
  });
  const payload = client.body ? Buffer.from(await client.body.bytes()) : undefined;
  const response = await inject(app.callback(), {
    method: client.method as 'GET',
    url: client.search ? `${client.path}?${client.search}` : client.path,
    headers: { host: client.host, ...Object.fromEntries(client.headers) },
    remoteAddress: client.ip,
    ...(payload && { payload }),
  });
  const headers = new HeaderBag();
  for (const [name, value] of Object.entries(response.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, String(one));
  }
  return Reply.raw(response.statusCode, headers, response.rawPayload);
}
