import { type Log, type ServiceConfig, timerMs } from '#contract';
import { YieldScheduler } from '../contract/internal.ts';
import type { Compiled } from '../pipeline/compile.ts';
import type { InFlight } from '../pipeline/in-flight.ts';
import type { Registry } from '../registry/registry.ts';
import type { Acquired, Dispatcher } from './config-build.ts';
import type { EndpointLease } from './endpoint-lease.ts';
import { type Fingerprint, hashOf, takeFingerprintNow } from './fingerprint.ts';
import type { Scope } from './scope.ts';
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
  /** What other processes may ask of the values it shares, by their ids. */
  readonly shared: Acquired['shared'];
  /** What the health endpoint tells of its components. */
  readonly health: Acquired['health'];
  /** What empties its caches, by their names. */
  readonly caches: Acquired['caches'];
  readonly dispatcher: Dispatcher;
  /** What its plugins from files were handed. */
  readonly sites: Acquired['sites'];
  readonly #starts: Acquired['starts'];
  readonly #started = new AbortController();
  readonly #scope: Scope;
  readonly #holds: readonly EndpointLease[];
  /**
   * An array in which each call knows its slot, not a `Set`: the tables that a busy `Set` leaves behind keep finished calls
   * alive past their youth, which costs a tenth of the CPU time of a request.
   */
  readonly #inFlight: InFlight[] = [];
  /** Once retired: resolves when the last stream has ended and everything is released. */
  ended: Promise<unknown> = Promise.resolve();
  #fingerprint: Fingerprint | null = null;
  #hash: string | null = null;
  #onIdle: (() => void) | null = null;
  /** Other processes that serve it. */
  #holders = 0;

  constructor(options: RuntimeOptions) {
    const { id, config, registry, compiled, tls, files, shared, health, caches, dispatcher, starts, scope, holds } =
      options;
    this.sites = options.sites;
    this.id = id;
    this.config = config;
    this.registry = registry;
    this.compiled = compiled;
    this.tls = tls;
    this.files = files;
    this.shared = shared;
    this.health = health;
    this.caches = caches;
    this.dispatcher = dispatcher;
    dispatcher.runtime = this;
    this.#starts = starts;
    this.#scope = scope;
    this.#holds = holds;
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

  set fingerprint(taken: Fingerprint) {
    this.#fingerprint = taken;
  }

  /** It serves: what its components have to do meanwhile begins. @param log gets what fails of it. */
  start(log: Log): void {
    const { signal } = this.#started;
    const onError = (error: unknown): void =>
      log.error(() => `a component has failed: ${error instanceof Error ? error.stack : error}`);
    for (const { run, scope } of this.#starts) {
      try {
        const running = run(signal);
        if (running) scope.defer(() => running.catch(onError));
      } catch (error) {
        onError(error);
      }
    }
  }

  /** Calls in flight; streams do not count. */
  get calls(): number {
    return this.#inFlight.length;
  }

  /** Answers that go on after their head was written. */
  get streams(): number {
    return this.compiled.routes.reduce((streams, { hold }) => streams + hold.streams, 0);
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
    this.#started.abort();
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
    const streaming = this.#holds.filter((hold) => hold.streams > 0);
    this.ended = Promise.all(streaming.map((hold) => hold.retire(onError)));
    const scheduler = new YieldScheduler();
    for (const hold of this.#holds) {
      if (hold.streams > 0) continue;
      await hold.retire(onError);
      if (scheduler.due) await scheduler.yield();
    }
    await this.#scope.dispose(onError);
    return aborted;
  }
}
