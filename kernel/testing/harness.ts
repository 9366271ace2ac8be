import { type Duplex, duplexPair } from 'node:stream';
import {
  type AgentConfig,
  type AtBackend,
  type AtEndpoint,
  type AtService,
  type BackendConfig,
  type ClientRequest,
  type ConfigError,
  copyData,
  type Data,
  type EndpointConfig,
  type Level,
  type Offer,
  type PipeRequest,
  type Plugin,
  type Reply,
  type Role,
  type ServiceConfig,
  type Services,
  type Step,
} from '#contract';
import type { Normalized } from '../config/index.ts';
import { ConfigErrors } from '../contract/internal.ts';
import { attach } from '../pipeline/attach.ts';
import type { EndpointContext } from '../pipeline/attachments.ts';
import { nesting } from '../pipeline/nested.ts';
import { Offers } from '../pipeline/offers.ts';
import type { Reads } from '../pipeline/reads.ts';
import type { Build } from '../pipeline/site.ts';
import { type Asked, type BuildContext, ConfigBuild } from '../runtime/config-build.ts';
import { ReadFiles } from '../runtime/read-files.ts';
import type { Scope } from '../runtime/scope.ts';
import { ScopedBuild } from '../runtime/scoped-build.ts';
import { runNext, sendTo } from './send.ts';
import { testAgent, testEndpoint, testService } from './test-config.ts';
import { testContext } from './test-context.ts';
import type { TestRequest } from './test-request.ts';

/** What surrounds the plugin. */
export interface HarnessOptions {
  readonly services?: Partial<Services>;
  /** What stands inside the plugin. Default: answers 200 with `{"ok":true}`. */
  readonly next?: Step<PipeRequest>;
  /** For an endpoint with several backends; `next` is then not used. */
  readonly backends?: readonly Step<PipeRequest>[];
  /** Others that are there, such as encodings that its configuration or its endpoint names. */
  readonly plugins?: readonly Plugin[];
  /** What other plugins offer it. */
  readonly offers?: readonly Offer[];
  /** Default: alone, or a worker where `owner` is given. */
  readonly role?: Role;
  /** The same plugin in the role of the owner: what stands here is one of its workers, and asks it for what they share. */
  readonly owner?: Harness;
  readonly service?: Partial<ServiceConfig>;
  readonly endpoint?: Partial<EndpointConfig>;
  readonly backend?: Partial<BackendConfig>;
  /** Of an agent whose driver the plugin is; its messages are answered by `next`. */
  readonly agent?: Partial<AgentConfig>;
}

/** A plugin standing alone, with no gateway and no socket around it. */
export interface Harness {
  send(request: TestRequest | ClientRequest): Promise<Reply>;
  /**
   * Sends a request whose connection is to go on in another protocol, `upgrade` of the request.
   * @returns the reply, and the client's end of the connection; null for an ordinary reply.
   */
  connect(request: TestRequest | ClientRequest): Promise<{ reply: Reply; connection: Duplex | null }>;
  /** Another configuration for the same place, as a reload brings it: kept values pass over. */
  reload(config: unknown): Promise<void>;
  readonly warnings: readonly ConfigError[];
  /** What the plugin handed over. */
  readonly attached: AtService & AtEndpoint & AtBackend;
  /** The ports it opened, in the order in which it asked for them. */
  readonly ports: readonly number[];
  /** What it tells the health endpoint, by name. */
  readonly health: ReadonlyMap<string, () => Data>;
  /** What it asked its site for, by name, up to now. */
  readonly reads: Reads;
  /** Retires the plugin. @returns what it did not release; both must be 0. */
  close(): Promise<{ kept: number; deferred: number }>;
}

/** What stands now. */
export interface Standing {
  readonly attached: AtService & AtEndpoint & AtBackend;
  readonly scope: Scope;
  readonly warnings: readonly ConfigError[];
  readonly build: Build;
  readonly ports: readonly number[];
  readonly health: ReadonlyMap<string, () => Data>;
  /** What workers ask for, by the name of the value. */
  readonly shared: ReadonlyMap<string, (asked: Asked) => Asked>;
}

/**
 * Stands a plugin at one place: validates its configuration, attaches it and folds it around `next`.
 * @throws ConfigErrors when the configuration is refused.
 */
export async function openHarness(
  plugin: Plugin,
  place: Level,
  config: unknown,
  around: HarnessOptions = {},
): Promise<Harness> {
  const context = testContext(plugin, around, async (owner, id, asked) => owned.get(owner)!(id, asked));
  let standing = await standUp(plugin, place, config, around, context);
  const self: Harness = {
    send: (request) => sendTo(standing, place, request, around),
    async connect(request) {
      const reply = await sendTo(standing, place, request, around);
      if (!reply.upgrade) return { reply, connection: null };
      const [connection, gatewayEnd] = duplexPair();
      reply.upgrade.take(gatewayEnd, Buffer.alloc(0));
      return { reply, connection };
    },
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
    get reads() {
      return standing.build.reads;
    },
    get health() {
      return standing.health;
    },
    async close() {
      await standing.scope.dispose(rethrow);
      await context.registry.close();
      return { kept: context.cache.size, deferred: standing.scope.size };
    },
  };
  owned.set(self, (id, asked) => standing.shared.get(id)!(asked));
  return self;
}

/** What each stand answers its workers. */
const owned = new WeakMap<Harness, (id: string, asked: Asked) => Asked>();

function rethrow(error: unknown): never {
  throw error;
}

async function standUp(
  plugin: Plugin,
  level: Level,
  raw: unknown,
  around: HarnessOptions,
  context: BuildContext,
): Promise<Standing> {
  const config = testService(around.service);
  const normalized: Normalized = { config, errors: [], warnings: [], origin: (pointer) => pointer };
  const whole = new ConfigBuild(normalized, new ReadFiles(), context, 0);
  const build = new ScopedBuild(whole, whole.scope);
  const { registry } = context;
  await registry.load(registry.namespaces);
  const endpoint = testEndpoint(around);
  const place = plugin.places?.find((candidate) => candidate.at === level);
  if (!place) throw new Error(`"${plugin.name}" has no place at ${level} level`);
  const offers = Offers.atRoot(registry.openScope());
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
    ...(level === 'agent' && { agent: testAgent(around), run: runNext(around) }),
  };
  const { scope, starts, ports, health, shared } = whole;
  const { errors, warnings, warmups } = build;
  try {
    const handed = attach<AtService & AtEndpoint & AtBackend>(build, plugin, place, copyData(raw as Data), stance);
    if (errors.length > 0) throw new ConfigErrors(errors);
    const attached = handed ?? {};
    for (const task of warmups) await task(new AbortController().signal);
    const running = new AbortController();
    for (const { run } of starts) void run(running.signal);
    scope.defer(() => running.abort());
    return {
      attached,
      scope,
      warnings,
      build,
      health,
      shared,
      ports: [...ports.values()].map(({ port }) => port.port),
    };
  } catch (error) {
    await scope.dispose(rethrow);
    throw error;
  }
}
