import {
  type ClientRequest,
  ConfigError,
  type Data,
  type EndpointConfig,
  type Mirror,
  type MirrorOptions,
  type OpenPort,
  type Plugin,
  type PortAddress,
  type PortHandler,
  type Role,
  type Run,
  type ServiceConfig,
  type Services,
  type Step,
  type TakeToken,
  type TokenPool,
} from '#contract';
import type { FaultMeter } from '../../containment/hook-guard.ts';
import { boundToOwner } from '../../contract/internal.ts';
import type { Build, SharedBuild } from '../../pipeline/attach/build.ts';
import { Reads } from '../../pipeline/attach/reads.ts';
import { EndpointTraffic } from '../../pipeline/traffic/endpoint-traffic.ts';
import type { Registry } from '../../registry/registry.ts';
import type { EndpointLease } from '../kept/endpoint-lease.ts';
import { Holding } from '../kept/holding.ts';
import { Leases, type RequestTokens, serveLease } from '../kept/leases.ts';
import { bindErrorReason, PluginPort } from '../kept/plugin-port.ts';
import { type CacheLease, keptId } from '../kept/ref-counted-cache.ts';
import { endpointId } from '../prints/endpoint-prints.ts';
import type { ReadFiles } from '../prints/read-files.ts';
import type { ConfigBuild, Question } from './config-build.ts';

/** Build context for the compiler: for the whole service, or for one endpoint with its own scope. There are many. */
export class ScopedBuild implements Build {
  #whole: ConfigBuild;
  readonly holding: Holding;
  readonly reads = new Reads();
  #lease: CacheLease | null = null;

  constructor(whole: ConfigBuild, holding: Holding) {
    this.#whole = whole;
    this.holding = holding;
    holding.builder ??= this;
  }

  /** Called when a later configuration that reuses this part serves: later requests for resources go to that configuration. */
  moveTo(whole: ConfigBuild): void {
    this.#whole = whole;
  }

  get config(): ServiceConfig {
    return this.#whole.normalized.config;
  }

  get services(): Services {
    return this.#whole.context.registry.services;
  }

  get known(): Registry {
    return this.#whole.context.registry;
  }

  get role(): Role {
    return this.#whole.context.role;
  }

  get errors(): ConfigError[] {
    return this.#whole.issues;
  }

  get warnings(): ConfigError[] {
    return this.holding.registers.warnings;
  }

  get noticed(): ConfigError[] {
    return this.#whole.noticed;
  }

  get everyHandlerUse(): Build['everyHandlerUse'] {
    return this.#whole.handlerUses;
  }

  get upstreams(): Build['upstreams'] {
    return this.#whole.upstreams;
  }

  get warmups(): Build['warmups'] {
    return this.#whole.warmups;
  }

  get read(): ReadFiles['read'] {
    return this.#whole.files.read;
  }

  get list(): ReadFiles['list'] {
    return this.#whole.files.list;
  }

  get isDirectory(): Build['isDirectory'] {
    return this.#whole.files.isDirectory;
  }

  get dispatch(): Step<ClientRequest> {
    return (request, call) => this.#whole.dispatcher.dispatch!(request, call);
  }

  get calls(): Build['calls'] {
    return this.#whole.dispatcher.runtime;
  }

  get containment(): Build['containment'] {
    return this.#whole.context.containment;
  }

  get handlerUses(): Build['handlerUses'] {
    return this.holding.registers.handlerUses;
  }

  get sites(): Build['sites'] {
    return this.holding.registers.sites;
  }

  get faultMeter(): FaultMeter {
    return this.#whole.faultMeter;
  }

  get defaultProtocol(): Plugin {
    const { registry } = this.#whole.context;
    return registry.plugin(registry.catalogue.defaultProtocol)!;
  }

  keep<T>(owner: string, key: Data, open: () => T, close?: (value: T) => void | Promise<void>): T {
    this.#lease ??= this.#whole.context.cache.lease(this.holding);
    return this.#lease.keep(owner, key, open, close);
  }

  share<T>(
    owner: string,
    key: Data,
    open: () => T,
    use: (value: T, question: Question) => Question,
    close?: (value: T) => void | Promise<void>,
  ): (question: Question) => Question | Promise<Question> {
    const id = keptId(owner, key);
    const { ask } = this.#whole.context;
    if (ask) return (question) => ask(this.#whole.revision, id, question);
    const value = this.keep(owner, key, open, close);
    const run = (question: Question) => use(value, question);
    this.holding.names('shared').set(id, run);
    return run;
  }

  lease<T>(owner: string, key: Data, pool: TokenPool<T>): TakeToken {
    const close = pool.close && ((value: T) => pool.close!(value));
    const respond = serveLease(pool) as unknown as (value: T, question: Question) => Question;
    const ask = this.share(owner, key, pool.open, respond, close) as unknown as RequestTokens;
    if (this.#whole.context.ask) {
      const leases = new Leases(ask, pool.batch, this.services.clock);
      this.defer(() => leases.close());
      return (of = '') => leases.take(of);
    }
    const value = this.keep(owner, key, pool.open, close);
    return (of = '') => pool.take(value, of);
  }

  mirror<T, Change extends Question>(owner: string, key: Data, options: MirrorOptions<T, Change>): Mirror<T, Change> {
    const id = keptId(owner, key);
    const { mirrors } = this.#whole.context;
    const value = this.keep(
      `${owner} mirror`,
      key,
      () => mirrors.open(id, options),
      () => mirrors.close(id),
    );
    this.warmups.push(() => mirrors.complete(id));
    return { value, change: (change) => mirrors.change(id, change) };
  }

  start(run: Run, where: 'owner' | 'each', holdsPort = false): void {
    const { role } = this;
    if (this.services.sandbox?.background === false) return;
    if (role === 'alone' || (role === 'owner') === (where === 'owner')) {
      this.holding.registers.starts.push({ run: boundToOwner(run), holdsPort });
    }
  }

  listen(owner: string, pointer: string, question: PortAddress, handler: PortHandler): OpenPort {
    const address = `${question.host ?? '*'}:${question.port}`;
    const other = this.#whole.ports.get(address);
    if (other && question.port !== 0) {
      throw new ConfigError('LISTENER_TAKEN', pointer, `"${other.owner}" already listens on ${address}`);
    }
    if (this.role === 'worker' || this.services.sandbox) return { port: 0 };
    const port = this.keep(
      'listen',
      address,
      () => new PluginPort(question),
      (opened) => opened.close(),
    );
    this.#whole.ports.set(address, { owner, port });
    this.holding.names('ports').set(address, { owner, port });
    const open = boundToOwner(() => port.open());
    this.warmups.push(() =>
      open().catch((error: Error) => {
        const message = `cannot listen on ${address}: ${bindErrorReason(error)}`;
        throw new ConfigError('LISTENER_BIND', pointer, message, { cause: error });
      }),
    );
    this.start((signal) => {
      port.handler = handler;
      signal.addEventListener('abort', () => {
        // Removes the handler only if the handler of another configuration has not replaced it in the meantime.
        if (port.handler === handler) port.handler = null;
      });
    }, 'owner');
    return port;
  }

  health(name: string, check: () => Data): void {
    this.holding.names('health').set(name, check);
  }

  cache(name: string, empty: () => void): void {
    this.holding.registers.caches.push([name, empty]);
  }

  recordings(latest: (count: number) => string): void {
    this.holding.registers.recordings.push(latest);
  }

  get reports(): Build['reports'] {
    return () => Object.fromEntries([...this.#whole.health].map(([name, check]) => [name, check()]));
  }

  defer(dispose: () => void | Promise<void>): void {
    this.holding.defer(boundToOwner(dispose));
  }

  get hasRegistered(): boolean {
    return this.holding.registered !== null;
  }

  traffic(endpoint: EndpointConfig, hold: EndpointLease): EndpointTraffic {
    const { cache } = this.#whole.context;
    const id = `traffic ${endpointId(endpoint)}`;
    const traffic = cache.take(id, () => new EndpointTraffic());
    traffic.backends.hold(endpoint.backend);
    hold.defer(() => {
      traffic.backends.letGo(endpoint.backend);
      return cache.giveBack(id);
    });
    return traffic;
  }

  forShared(): SharedBuild {
    const holding = new Holding();
    const build = new ScopedBuild(this.#whole, holding);
    const { log } = this.services;
    return {
      build,
      lease: () => {
        const hold = this.#whole.newHold();
        hold.builder = build;
        hold.share(holding);
        return hold;
      },
      async release() {
        await holding.release((failure) => log.error(() => `failed to release resources: ${failure}`));
      },
    };
  }

  forEndpoint(): { build: ScopedBuild; hold: EndpointLease } {
    const hold = this.#whole.newHold();
    const build = new ScopedBuild(this.#whole, hold);
    return { build, hold };
  }
}
