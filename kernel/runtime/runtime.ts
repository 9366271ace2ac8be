import { type Log, type ServiceConfig, timerMs } from '#contract';
import type { Understood } from '../config/index.ts';
import { scheduler } from '../contract/internal.ts';
import type { Compiled } from '../pipeline/compile.ts';
import type { InFlight } from '../pipeline/in-flight.ts';
import type { Registry } from '../registry/registry.ts';
import type { Acquired, Dispatcher } from './config-build.ts';
import type { EndpointLease } from './endpoint-lease.ts';
import { type Fingerprint, type Fingerprinted, hashOf, takeFingerprint, takeFingerprintNow } from './fingerprint.ts';
import { type Holding, joined, listed, type Registered } from './holding.ts';
import type { ServerTls } from './tls.ts';
import type { FileRead } from './watch/index.ts';

/** What a runtime is made of. */
export interface RuntimeOptions extends Acquired {
  readonly id: number;
  readonly config: ServiceConfig;
  readonly registry: Registry;
  readonly compiled: Compiled;
  readonly tls: ServerTls | null;
  readonly files: readonly FileRead[];
}

/** One configuration, live: nothing about it changes but the calls in flight and its streams. */
export class Runtime {
  /** The revision: grows with every configuration of a gateway. */
  readonly id: number;
  readonly config: ServiceConfig;
  /** The plugins it may name. */
  readonly registry: Registry;
  readonly compiled: Compiled;
  /** TLS of the port; null for plain HTTP. */
  readonly tls: ServerTls | null;
  /** Every file it was built from, besides the document. */
  readonly files: readonly FileRead[];
  readonly dispatcher: Dispatcher;
  /** What a document after this one may be compared with; null to read that as a whole. */
  understood: Understood | null = null;
  readonly #takeOver: () => void;
  readonly #scope: Holding;
  readonly #holds: readonly EndpointLease[];
  readonly #registering: readonly Holding[];
  /**
   * An array in which each call knows its slot, not a `Set`: the tables that a busy `Set` leaves behind keep finished calls
   * alive past their youth, which costs a tenth of the CPU time of a request.
   */
  readonly #inFlight: InFlight[] = [];
  /** Once retired: resolves when the last stream has ended and everything is released. */
  ended: Promise<unknown> = Promise.resolve();
  #fingerprint: Fingerprint | null = null;
  #hash: string | null = null;
  #shared: Registered['shared'] | null = null;
  #onIdle: (() => void) | null = null;
  /** Other processes that serve it. */
  #holders = 0;
  #serves = false;
  #retired = false;

  constructor(options: RuntimeOptions) {
    const { id, config, registry, compiled, tls, files, dispatcher, scope, holds, registering, takeOver } = options;
    this.id = id;
    this.config = config;
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

  /** What the service itself acquired. */
  get scope(): Holding {
    return this.#scope;
  }

  /** What agents acquired, and endpoints that components publish. */
  get otherHolds(): readonly EndpointLease[] {
    return this.#holds.slice(this.compiled.routes.length);
  }

  /** What other processes may ask of the values it shares, by their ids. */
  get shared(): Registered['shared'] {
    this.#shared ??= joined(this.#registering, 'shared');
    return this.#shared;
  }

  /** What empties its caches, by their names. */
  get caches(): ReadonlyMap<string, readonly (() => void)[]> {
    const caches = Map.groupBy(listed(this.#registering, 'caches'), ([name]) => name);
    return new Map([...caches].map(([name, all]) => [name, all.map(([, empty]) => empty)]));
  }

  /** What its plugins from files were handed. */
  get sites(): Registered['sites'] {
    return listed(this.#registering, 'sites');
  }

  /** Fingerprint of the configuration and of every file it names, whatever their layout; made when first asked for. */
  get hash(): string {
    this.#hash ??= hashOf(this.fingerprint, this.files);
    return this.#hash;
  }

  /** What the configuration means; taken when first asked for, unless it was given. */
  get fingerprint(): Fingerprint {
    this.#fingerprint ??= takeFingerprintNow(this.config);
    return this.#fingerprint;
  }

  /** With its fingerprint, which is taken in short slices where nobody has yet. */
  async fingerprinted(): Promise<Fingerprinted> {
    this.#fingerprint ??= await takeFingerprint(this.config);
    return { config: this.config, fingerprint: this.#fingerprint };
  }

  set fingerprint(taken: Fingerprint) {
    this.#fingerprint = taken;
  }

  /** It serves: what its components have to do meanwhile begins. @param log gets what fails of it. */
  start(log: Log): void {
    this.#serves = true;
    this.#takeOver();
    for (const holding of this.#registering) holding.serve(log);
  }

  /** Resolves when nothing of it holds up the port any more. */
  async ready(): Promise<void> {
    for (const holding of this.#registering) await holding.ready();
  }

  /** Calls in flight; streams do not count. */
  get calls(): number {
    return this.#inFlight.length;
  }

  /** Answers that go on after their head was written; once it has retired, those that no configuration after it has. */
  get streams(): number {
    let streams = 0;
    for (const hold of this.#holds) if (!this.#retired || !hold.isShared) streams += hold.streams;
    return streams;
  }

  /** Protocols that connections can go on in, in lower case. */
  get upgrades(): ReadonlySet<string> {
    return this.compiled.upgrades;
  }

  /** What the content types of requests begin with that have endpoints of their own over HTTP/2; null for none. */
  get http2Type(): string | null {
    return this.compiled.http2?.contentType ?? null;
  }

  /** The gateway closes: connections in other protocols, and answers that last, end in order. */
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

  /** Work that goes on without a request: it is waited for as requests are. @param of what it belongs to. */
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

  /** Keeps it from being released while another process serves it. @returns lets it go; to be called once. */
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
   * Ends what its components do meanwhile, waits for the last call to leave and for the last holder, then releases what
   * the configuration acquired. Endpoints with streams are released when those have ended, which is not waited for.
   * @param drainMs after which the calls left are aborted; infinite to wait.
   * @returns what they asked for.
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
