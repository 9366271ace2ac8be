import {
  type AgentConfig,
  type AgentSite,
  type BackendConfig,
  type BackendSite,
  type ClientRequest,
  ConfigError,
  type EndpointConfig,
  httpSigners,
  type Log,
  type PipeConfig,
  type Plugin,
  type Role,
  type Site,
  type Step,
} from '#contract';
import { parsePointer, valueAt } from '../../config/index.ts';
import type { PlaceGuards } from '../../containment/place-guards.ts';
import { boundToOwner } from '../../contract/internal.ts';
import { ownerOf } from '../../registry/registry.ts';
import { compilePattern, compileText } from '../request/compile-text.ts';
import type { Build, Question } from './build.ts';
import { attachHandler, guardsAt, noteSite } from './guards.ts';
import { configOfHttp } from './http-config.ts';
import { atRoot, type Location } from './location.ts';
import type { Reads } from './reads.ts';
import { nameUpstream } from './upstreams.ts';

/** Creates the interface by which a plugin uses the kernel (its site), for one endpoint, backend, agent or the service. */
export function createSite(build: Build, plugin: Plugin, config: unknown, stance: Location): BackendSite<unknown> {
  return noteSite(build, plugin, new PlaceSite(build, plugin, config, stance) as BackendSite<unknown>);
}

class PlaceSite implements Site<unknown> {
  readonly config: unknown;
  readonly pointer: string;
  readonly isNamed: boolean;
  readonly log: Log;
  readonly endpoint: EndpointConfig | undefined;
  readonly backend: BackendConfig | undefined;
  readonly index: number | undefined;
  readonly agent: AgentConfig | undefined;
  readonly run: AgentSite<unknown>['run'] | undefined;
  readonly isDirectory: Site<unknown>['isDirectory'];
  readonly #build: Build;
  readonly #plugin: Plugin;
  readonly #stance: Location;
  readonly #reads: Reads;

  constructor(build: Build, plugin: Plugin, config: unknown, stance: Location) {
    this.#build = build;
    this.#plugin = plugin;
    this.#stance = stance;
    this.#reads = stance.reads ?? build.reads;
    this.config = config;
    this.pointer = stance.pointer;
    this.isNamed = stance.isUnnamed !== true;
    this.log = stance.log;
    this.endpoint = stance.endpoint;
    this.backend = stance.backend;
    this.index = stance.index;
    this.agent = stance.agent;
    this.run = stance.run;
    this.isDirectory = build.isDirectory;
  }

  get #guards(): PlaceGuards | null {
    return guardsAt(this.#build, this.#plugin, this.endpoint);
  }

  get encoding(): Site<unknown>['encoding'] {
    return (name) => {
      this.#reads.note('encodings', name);
      const encoding = this.#build.known.encoding(name);
      // The encoding object is shared by all plugins, so it must not be modified.
      return encoding && this.#plugin.source ? Object.freeze({ ...encoding }) : encoding;
    };
  }

  get role(): Role {
    return this.#build.role;
  }

  get dispatch(): Step<ClientRequest> {
    this.#reads.noteGateway();
    return this.#build.dispatch;
  }

  get pattern(): Site<unknown>['pattern'] {
    const { patterns } = this.#build.services;
    return (source, at) => compilePattern(patterns, source, (code, ...why) => this.fault(code, at, ...why));
  }

  get template(): Site<unknown>['template'] {
    return (text, at, name) => compileText(text, name, (code, ...why) => this.fault(code, at, ...why));
  }

  get read(): Site<unknown>['read'] {
    return (path) => {
      this.#reads.note('files', path);
      return this.#build.read(path);
    };
  }

  get list(): Site<unknown>['list'] {
    return (path) => this.#reads.noting('files', path, this.#build.list(path));
  }

  // Functions that work without the site as `this`, because `attach` may take them off it. They are created when they
  // are first read.
  get setting(): Site<unknown>['setting'] {
    return (name) => this.#reads.noting('settings', name, this.#build.config[name]);
  }

  get serving(): Site<unknown>['serving'] {
    return () => this.#build.config;
  }

  get use(): Site<unknown>['use'] {
    return (name) => this.#reads.noting('services', name, this.#build.services[name]);
  }

  get take(): Site<unknown>['take'] {
    return (port) => {
      this.#reads.note('ports', port.name);
      return this.#stance.offers.take(this.#plugin, port);
    };
  }

  get takeAll(): Site<unknown>['takeAll'] {
    return (port) => {
      this.#reads.note('ports', port.name);
      return this.#stance.offers.takeAll(this.#plugin, port);
    };
  }

  get keep(): Site<unknown>['keep'] {
    return (key, open, close) => this.#build.keep(ownerOf(this.#plugin), key, open, close);
  }

  get share(): Site<unknown>['share'] {
    return (key, open, use, close) =>
      this.#build.share(ownerOf(this.#plugin), key, open, use as never, close) as (question: Question) => never;
  }

  get lease(): Site<unknown>['lease'] {
    return (key, pool) => this.#build.lease(ownerOf(this.#plugin), key, pool);
  }

  get mirror(): Site<unknown>['mirror'] {
    return (key, options) => this.#build.mirror(ownerOf(this.#plugin), key, options);
  }

  get start(): Site<unknown>['start'] {
    const guards = this.#guards;
    return (run, options) =>
      this.#build.start(guards ? guards.task('start', run) : run, options?.in ?? 'owner', options?.holdsPort === true);
  }

  get listen(): Site<unknown>['listen'] {
    const guards = this.#guards;
    return (address, handler) =>
      this.#build.listen(this.#plugin.name, this.pointer, address, guards ? guards.handler(handler) : handler);
  }

  get contain(): Site<unknown>['contain'] {
    return (place, attach) => attachHandler(this.#build, this.#plugin, place, attach);
  }

  get health(): Site<unknown>['health'] {
    return (name, check) => this.#build.health(name, check);
  }

  get cache(): Site<unknown>['cache'] {
    return (name, empty) => this.#build.cache(name, empty);
  }

  get recordings(): Site<unknown>['recordings'] {
    return (latest) => this.#build.recordings(latest);
  }

  get reports(): Site<unknown>['reports'] {
    return this.#build.reports;
  }

  get warm(): Site<unknown>['warm'] {
    return (task) => void this.#build.warmups.push(boundToOwner(task));
  }

  get defer(): Site<unknown>['defer'] {
    const guards = this.#guards;
    return (dispose) => this.#build.defer(guards ? guards.task('defer', dispose) : dispose);
  }

  get connectsTo(): Site<unknown>['connectsTo'] {
    return (upstream, at) => nameUpstream(this.#build, this.#plugin, this.#stance, upstream, at);
  }

  get pipe(): Site<unknown>['pipe'] {
    return (at) => {
      const pipe = valueAt(this.config, parsePointer(at)) as PipeConfig | undefined;
      if (!Array.isArray(pipe?.backend)) throw new Error(`plugin "${this.#plugin.name}" has no pipe at ${at}`);
      return this.#stance.compilePipe(pipe!, this.pointer + at);
    };
  }

  get http(): Site<unknown>['http'] {
    return (options = {}) => {
      const plugin = this.#build.defaultProtocol;
      if (!plugin.http) throw new Error(`plugin "${plugin.name}" provides no HTTP client`);
      // Signers are attached before the components that use them.
      if (!options.ofService) this.take(httpSigners);
      const stance = options.ofService ? atRoot(this.#stance) : this.#stance;
      const config = configOfHttp(plugin, stance.backend);
      const site = new PlaceSite(this.#build, plugin, config, stance);
      return plugin.http(site as unknown as Site<never>, options);
    };
  }

  get fault(): Site<unknown>['fault'] {
    return (code, at, message, options) => new ConfigError(code, this.pointer + at, message, options);
  }

  get warn(): Site<unknown>['warn'] {
    return (code, at, ...why) => void this.#build.warnings.push(new ConfigError(code, this.pointer + at, ...why));
  }
}
