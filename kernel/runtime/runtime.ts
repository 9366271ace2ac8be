import { type Log, type ServiceConfig, timerMs } from '#contract';
import type { Understood } from '../config/index.ts';
import { scheduler } from '../contract/internal.ts';
import type { Compiled } from '../pipeline/compile/compile.ts';
import type { InFlight } from '../pipeline/traffic/in-flight.ts';
import type { Registry } from '../registry/registry.ts';
import type { Acquired, Dispatcher } from './build/config-build.ts';
import type { EndpointLease } from './kept/endpoint-lease.ts';
import { type Holding, joined, listed, type Registered } from './kept/holding.ts';
import {
  type Fingerprint,
  type Fingerprinted,
  hashOf,
  takeFingerprint,
  takeFingerprintNow,
} from './prints/fingerprint.ts';
import type { ServerTls } from './tls.ts';
import type { FileRead } from './watch/index.ts';

/** Parts of a runtime. */
export interface RuntimeOptions extends Acquired {
  readonly id: number;
  readonly config: ServiceConfig;
  readonly registry: Registry;
  readonly compiled: Compiled;
  readonly tls: ServerTls | null;
  readonly files: readonly FileRead[];
}

/** One live configuration: immutable except for its calls in flight and its streams. */
export class Runtime {
  /** The revision: increases with every configuration of a gateway. */
  readonly id: number;
  readonly config: ServiceConfig;
  /** The plugins that the configuration may name. */
  readonly registry: Registry;
  readonly compiled: Compiled;
  /** TLS of the port; null for plain HTTP. */
  readonly tls: ServerTls | null;
  /** Every file that the configuration was built from, except the document. */
  readonly files: readonly FileRead[];
  readonly dispatcher: Dispatcher;
  /** The configuration without its secrets from stores: references stay as written. */
  shown: ServiceConfig;
  /** Base of comparison for a later document; null to read that in full. */
  understood: Understood | null = null;
  readonly #takeOver: () => void;
  readonly #scope: Holding;
  readonly #holds: readonly EndpointLease[];
  readonly #registering: readonly Holding[];
  /**
   * An array in which each call knows its index. A `Set` that changes often leaves internal tables behind, which keep
   * finished calls in memory until a full garbage collection; that costs a tenth of the CPU time of a request.
   */
  readonly #inFlight: InFlight[] = [];
  /** After retirement: resolves when the last stream has ended and everything is released. */
  ended: Promise<unknown> = Promise.resolve();
  #fingerprint: Fingerprint | null = null;
  #hash: string | null = null;
  #shared: Registered['shared'] | null = null;
  #onIdle: (() => void) | null = null;
  /** Number of other processes that serve the configuration. */
  #holders = 0;
  #serves = false;
  #retired = false;

  constructor(options: RuntimeOptions) {
    const { id, config, registry, compiled, tls, files, dispatcher, scope, holds, registering, takeOver } = options;
    this.id = id;
    this.config = config;
    this.shown = config;
    this.registry = registry;
    this.compiled = compiled;
    this.tls = tls;
    this.files = files;
    this.dispatcher = dispatcher;
    dispatcher.runtime = this;
    this.#takeOver = takeOver;
    this.#scope = scope;
    this.#holds = holds;
    this.#registering = registering;
  }

  /** Resources of the service itself. */
  get scope(): Holding {
    return this.#scope;
  }

  /** Resources of agents, and of endpoints that components publish. */
  get otherHolds(): readonly EndpointLease[] {
    return this.#holds.slice(this.compiled.routes.length);
  }

  /** Operations that other processes run on shared values of this process, by operation id. */
  get shared(): Registered['shared'] {
    this.#shared ??= joined(this.#registering, 'shared');
    return this.#shared;
  }

  /** Functions that empty the configuration's caches, by name. */
  get caches(): ReadonlyMap<string, readonly (() => void)[]> {
    const caches = Map.groupBy(listed(this.#registering, 'caches'), ([name]) => name);
    return new Map([...caches].map(([name, all]) => [name, all.map(([, empty]) => empty)]));
  }

  /** Empties all caches with a name. @returns false if no component has a cache with that name. */
  emptyCache(name: string): boolean {
    const all = this.caches.get(name) ?? [];
    for (const empty of all) empty();
    return all.length > 0;
  }

  /** Functions that return the recorded traffic of components. */
  get recordings(): Registered['recordings'] {
    return listed(this.#registering, 'recordings');
  }

  /** Objects that were passed to plugins from files of the configuration. */
  get sites(): Registered['sites'] {
    return listed(this.#registering, 'sites');
  }

  /**
   * Fingerprint of the configuration and of every file it names, regardless of layout; computed on first use. It is
   * shown, and therefore does not depend on secrets from stores.
   */
  get hash(): string {
    this.#hash ??= hashOf(this.shown === this.config ? this.fingerprint : takeFingerprintNow(this.shown), this.files);
    return this.#hash;
  }

  /** Fingerprint of the configuration's meaning; computed on first use, unless it was given. */
  get fingerprint(): Fingerprint {
    this.#fingerprint ??= takeFingerprintNow(this.config);
    return this.#fingerprint;
  }

  /** Returns the configuration with its fingerprint, which is computed in short time slices if necessary. */
  async fingerprinted(): Promise<Fingerprinted> {
    this.#fingerprint ??= await takeFingerprint(this.config);
    return { config: this.config, fingerprint: this.#fingerprint };
  }

  set fingerprint(taken: Fingerprint) {
    this.#fingerprint = taken;
  }

  /** Called when the configuration begins to serve: starts the background work of its components. @param log receives the failures. */
  start(log: Log): void {
    this.#serves = true;
    this.#takeOver();
    for (const holding of this.#registering) holding.serve(log);
  }

  /** Resolves when the configuration no longer delays opening the port. */
  async ready(): Promise<void> {
    for (const holding of this.#registering) await holding.ready();
  }

  /** Number of calls in flight, without streams. */
  get calls(): number {
    return this.#inFlight.length;
  }

  /** Responses that continue after their head was written; after retirement, only those that no later configuration holds. */
  get streams(): number {
    let streams = 0;
    for (const hold of this.#holds) if (!this.#retired || !hold.isShared) streams += hold.streams;
    return streams;
  }

  /** Protocols that connections can be upgraded to, in lowercase. */
  get upgrades(): ReadonlySet<string> {
    return this.compiled.upgrades;
  }

  /** Content type prefix of requests that have their own endpoints over HTTP/2; null for none. */
  get http2Type(): string | null {
    return this.compiled.http2?.contentType ?? null;
  }

  /** Called when the gateway closes: ends upgraded connections and long-lived responses in an orderly way. */
  endLasting(): void {
    for (const hold of this.#holds) hold.endLasting();
  }

  enter(call: InFlight): void {
    scheduler.noticeRequest();
    call.slot = this.#inFlight.push(call) - 1;
  }

  leave(call: InFlight): void {
    const last = this.#inFlight.pop()!;
    if (last !== call) {
      this.#inFlight[call.slot] = last;
      last.slot = call.slot;
    }
    if (this.#inFlight.length === 0) this.#onIdle?.();
  }

  /**
   * Tracks work that belongs to no request. Its end is awaited, like that of requests. @param of the owner of the work.
   */
  background(work: Promise<unknown>, of: string): void {
    let isOver = false;
    const abort = (): string => {
      end();
      return `work of ${of}`;
    };
    const task: InFlight = { slot: 0, abort };
    const end = (): void => {
      if (!isOver) this.leave(task);
      isOver = true;
    };
    this.enter(task);
    work.then(end, end);
  }

  /** Prevents the release of the configuration while another process serves it. @returns a function that lifts this; must be called once. */
  hold(): () => void {
    this.#holders++;
    return () => {
      this.#holders--;
      this.#onIdle?.();
    };
  }

  get #idle(): boolean {
    return this.#inFlight.length === 0 && this.#holders === 0;
  }

  /**
   * Ends the background work of its components, waits for the last call and the last holder, then releases the
   * configuration's resources. Endpoints with streams are released when those have ended, which is not awaited.
   * @param drainMs time after which the remaining calls are aborted; infinite to wait.
   * @returns what the aborted calls had requested.
   */
  async retire(onError: (error: unknown) => void, drainMs = Number.POSITIVE_INFINITY): Promise<string[]> {
    const aborted: string[] = [];
    this.#retired = true;
    if (this.#serves) for (const holding of this.#registering) holding.rest();
    if (!this.#idle) {
      const abort = () => {
        for (const call of [...this.#inFlight]) aborted.push(call.abort());
      };
      const late = Number.isFinite(drainMs) ? setTimeout(abort, timerMs(drainMs)) : null;
      await new Promise<void>((resolve) => {
        this.#onIdle = () => {
          if (this.#idle) resolve();
        };
      });
      if (late) clearTimeout(late);
    }
    const streaming: Promise<void>[] = [];
    for (const hold of this.#holds) {
      const isStreaming = hold.streams > 0;
      const released = hold.release(onError);
      if (isStreaming && released) streaming.push(released);
      else if (released) await released;
      if (scheduler.due) await scheduler.yield();
    }
    this.ended = Promise.all(streaming);
    await this.#scope.release(onError);
    return aborted;
  }
}
