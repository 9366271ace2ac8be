import { duplexPair } from 'node:stream';
import {
  type AtBackend,
  type AtEndpoint,
  type AtService,
  type ConfigError,
  copyData,
  type Data,
  type Level,
  type Plugin,
} from '#contract';
import type { Normalized } from '../config/index.ts';
import { ConfigErrors } from '../contract/internal.ts';
import { attach } from '../pipeline/attach/attach.ts';
import type { EndpointContext } from '../pipeline/attach/attachments.ts';
import type { Build } from '../pipeline/attach/build.ts';
import { Offers } from '../pipeline/attach/offers.ts';
import { nesting } from '../pipeline/compile/nested.ts';
import { type BuildContext, ConfigBuild, type Question } from '../runtime/build/config-build.ts';
import { ScopedBuild } from '../runtime/build/scoped-build.ts';
import type { Scope } from '../runtime/kept/scope.ts';
import { ReadFiles } from '../runtime/prints/read-files.ts';
import type { Harness, HarnessOptions } from './harness-options.ts';
import { runNext, sendTo } from './send.ts';
import { testAgent, testEndpoint, testService } from './test-config.ts';
import { testContext } from './test-context.ts';

/** The current plugin instance. */
interface Attached {
  readonly attached: AtService & AtEndpoint & AtBackend;
  readonly scope: Scope;
  readonly warnings: readonly ConfigError[];
  readonly build: Build;
  readonly ports: readonly number[];
  readonly health: ReadonlyMap<string, () => Data>;
  /** Operations for workers, by the name of the value. */
  readonly shared: ReadonlyMap<string, (question: Question) => Question>;
}

/**
 * Opens a plugin as configured in one endpoint, backend or the service: validates its configuration, attaches it and
 * wraps it around `next`.
 * @throws ConfigErrors when the configuration is rejected.
 */
export async function openHarness(
  plugin: Plugin,
  place: Level,
  config: unknown,
  around: HarnessOptions = {},
): Promise<Harness> {
  const context = testContext(plugin, around, async (owner, id, question) => owned.get(owner)!(id, question));
  let attached = await attachOnce(plugin, place, config, around, context);
  const self: Harness = {
    send: (request) => sendTo(attached.attached, attached.build.services.log, place, request, around),
    async connect(request) {
      const reply = await sendTo(attached.attached, attached.build.services.log, place, request, around);
      if (!reply.upgrade) return { reply, connection: null };
      const [connection, gatewayEnd] = duplexPair();
      reply.upgrade.take(gatewayEnd, Buffer.alloc(0));
      return { reply, connection };
    },
    async reload(next) {
      const successor = await attachOnce(plugin, place, next, around, context);
      await attached.scope.dispose(rethrow);
      attached = successor;
    },
    get warnings() {
      return attached.warnings;
    },
    get attached() {
      return attached.attached;
    },
    get ports() {
      return attached.ports;
    },
    get reads() {
      return attached.build.reads;
    },
    get health() {
      return attached.health;
    },
    async close() {
      await attached.scope.dispose(rethrow);
      await context.registry.close();
      return { kept: context.cache.size, deferred: attached.scope.size };
    },
  };
  owned.set(self, (id, question) => attached.shared.get(id)!(question));
  return self;
}

/** Handles the requests of workers, by harness. */
const owned = new WeakMap<Harness, (id: string, question: Question) => Question>();

function rethrow(error: unknown): never {
  throw error;
}

async function attachOnce(
  plugin: Plugin,
  level: Level,
  raw: unknown,
  around: HarnessOptions,
  context: BuildContext,
): Promise<Attached> {
  const config = testService(around.service);
  const normalized: Normalized = { config, errors: [], warnings: [], origin: (pointer) => pointer };
  const whole = new ConfigBuild(normalized, new ReadFiles(), context, 0);
  const build = new ScopedBuild(whole, whole.scope);
  const { registry } = context;
  await registry.load(registry.namespaces);
  const endpoint = testEndpoint(around);
  const place = plugin.places?.find((candidate) => candidate.at === level);
  if (!place) throw new Error(`"${plugin.name}" cannot be configured at ${level} level`);
  const offers = Offers.atRoot(registry.openScope());
  for (const given of around.offers ?? []) offers.add({ ...plugin, offers: [given.port] }, [given]);
  const pipes: Omit<EndpointContext, 'compilePipe'> = {
    build,
    registry,
    service: [],
    offers,
    agent: 'Sluice Version 0.0.0',
    requestId: '',
    addCertificate: null,
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
  const { scope, ports } = whole;
  const { errors, warnings, warmups } = build;
  try {
    const handed = attach<AtService & AtEndpoint & AtBackend>(build, plugin, place, copyData(raw as Data), stance);
    if (errors.length > 0) throw new ConfigErrors(errors);
    const attached = handed ?? {};
    for (const task of warmups) await task(new AbortController().signal);
    const { starts, health, shared } = scope.registers;
    const running = new AbortController();
    for (const { run } of around.starts === false ? [] : starts) void run(running.signal);
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
