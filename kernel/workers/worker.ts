import { setTimeout as delay } from 'node:timers/promises';
import type { Catalogue, ListenAddress, LogLevel, LogSinks } from '#contract';
import { type Document, parseAfter, rememberStored } from '../config/index.ts';
import { ConfigErrors, GatewayError } from '../contract/internal.ts';
import { type Engine, openEngine } from '../control/engine.ts';
import type { Prepared } from '../control/generations.ts';
import type { ListenTarget } from '../control/public-port.ts';
import { joinSuspensions } from '../control/suspensions.ts';
import type { Question } from '../runtime/build/config-build.ts';
import { Phases } from '../runtime/build/phases.ts';
import { readConfig } from '../runtime/build/read-config.ts';
import type { MirrorChange } from '../runtime/kept/mirrors.ts';
import { endpointId } from '../runtime/prints/endpoint-prints.ts';
import { ReadFiles } from '../runtime/prints/read-files.ts';
import type { Sampling } from '../server/exchange/sample.ts';
import { Channel, type Line } from './channel.ts';
import {
  type ChangeOrder,
  type Committed,
  type Heartbeat,
  type MirrorMessage,
  type PrepareOrder,
  resourceUse,
  type SharedQuestion,
  TEXT_UNKNOWN,
  type WorkerSettings,
} from './messages.ts';
import { changedText } from './text-change.ts';
import { serveFromYoungGeneration } from './young-generation.ts';

/** Time between two heartbeats, in milliseconds. */
const HEARTBEAT_MS = 1_000;

/**
 * Serves in a separate process, controlled by the primary, until it is stopped.
 * @param sinks destinations of its logs. Default: the process's standard output and error.
 * @returns the exit code.
 */
export async function runWorker(catalogue: Catalogue, settings: WorkerSettings, sinks?: LogSinks): Promise<number> {
  // Signals are ignored because they reach the whole process group, and the primary handles them.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  const worker = new Worker(process, catalogue, settings, sinks);
  worker.watchErrors();
  await worker.stopped;
  // The delay leaves time to send the response to the order.
  setImmediate(() => delay(50).then(() => process.exit(0)));
  return 0;
}

/** Serves under the control of the other end of a line. */
export class Worker {
  /** Resolves when the worker has stopped on request. */
  readonly stopped: Promise<void>;
  readonly #settings: WorkerSettings;
  readonly #channel: Channel;
  readonly #engine: Engine;
  /** Resolves when the worker knows which plugins are suspended; null before the first request. */
  #suspensionsKnown: Promise<void> | null = null;
  #prepared: (Prepared & { readonly document: Document }) | null = null;
  /** The serving document, as written: only its changes are read again. */
  #document: Document | null = null;
  /** The order in preparation; replaced by another order or by an abort. */
  #wanted: PrepareOrder | ChangeOrder | null = null;
  #listens = false;
  /** The serving revision; 0 before the first. */
  #serving = 0;
  #pulseAt = performance.now();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(line: Line, catalogue: Catalogue, settings: WorkerSettings, sinks: LogSinks | undefined) {
    this.#settings = settings;
    this.#engine = openEngine(catalogue, {
      debug: settings.debug,
      log: settings.log,
      sinks,
      events: { emit: (type, data) => this.#channel.notify('event', { type, data }) },
      role: 'worker',
      reports: settings.reports,
      ask: (revision, id, question) => this.#askShared({ revision, id, question: question }),
    });
    const { internalErrors } = this.#engine;
    internalErrors.onError = () => this.#channel.notify('faulty');
    const { promise, resolve } = Promise.withResolvers<void>();
    this.stopped = promise;
    this.#channel = new Channel(line, {
      prepare: (order: PrepareOrder) => this.#prepare(order),
      commit: (revision: number) => this.#commit(revision),
      abort: () => this.#abort(),
      mirror: ({ id, change }: MirrorMessage) => this.#engine.mirrors.receive(id, change),
      listen: (target: ListenTarget) => this.#listen(target),
      observe: (id: string) => this.#engine.observers.take(id),
      unobserve: (id: string) => this.#engine.observers.release(id),
      inFlight: () => this.#engine.generations.inFlight,
      closing: (closing: boolean) => this.#engine.generations.setClosing(closing),
      deny: (all: readonly ListenAddress[]) => this.#engine.denied.replace(all),
      sample: (rate: number | null) => this.#engine.generations.sample(rate === null ? null : this.#sampling(rate)),
      level: (level: LogLevel) => {
        this.#engine.log.level = level;
      },
      stop: () => this.#stop().finally(resolve),
    });
    this.#engine.mirrors.link = {
      send: (id, change) => this.#channel.notify('mirror', { id, change }),
      fetch: (id) => this.#channel.ask('snapshot', id) as Promise<MirrorChange | undefined>,
    };
    this.#channel.notify('ready');
  }

  /** Handles the uncaught errors of this process from now on: the primary replaces it. */
  watchErrors(): void {
    this.#engine.internalErrors.watch();
  }

  async #prepare(order: PrepareOrder | ChangeOrder): Promise<void> {
    const { revision, file, files } = order;
    const secrets = new Map(order.secrets);
    for (const value of secrets.values()) rememberStored(value);
    const text = this.#textOf(order);
    await this.#abort();
    this.#wanted = order;
    this.#suspensionsKnown ??= joinSuspensions(this.#engine);
    await this.#suspensionsKnown;
    const document = await parseAfter(this.#document, text, file);
    const { debug, port, plugins } = this.#settings;
    const overrides = { debug, ...(port !== null && { port }), ...(plugins !== null && { plugins }) };
    const read = new ReadFiles(files);
    const { generations } = this.#engine;
    const before = generations.isServing ? generations.current.runtime : null;
    const normalized = await readConfig(document.data, overrides, this.#engine.registry, read, before, secrets);
    if (normalized.errors.length > 0) throw new ConfigErrors(normalized.errors);
    const prepared = await generations.prepare(normalized, read, revision, new Phases());
    if (this.#wanted === order) this.#prepared = { ...prepared, document };
    else await prepared.abort();
  }

  /** @throws GatewayError TEXT_UNKNOWN if the order is based on another revision than the serving one. */
  #textOf(order: PrepareOrder | ChangeOrder): string {
    if ('text' in order) return order.text;
    const { change } = order;
    if (change.of === this.#serving && this.#document) return changedText(this.#document.text, change);
    throw new GatewayError(TEXT_UNKNOWN, `revision ${change.of} is not active in this worker`);
  }

  #listen(target: ListenTarget): ReturnType<Engine['generations']['listen']> {
    if (!this.#listens) void this.stopped.then(serveFromYoungGeneration());
    this.#listens = true;
    return this.#engine.generations.listen(target);
  }

  /** Switches to a revision, if that is the prepared one. */
  #commit(revision: number): Committed {
    const prepared = this.#prepared;
    const { generations } = this.#engine;
    if (prepared?.runtime.id !== revision) return { revision: this.#serving, rebound: [], port: null };
    this.#prepared = null;
    const { rebound } = prepared.commit();
    this.#serving = revision;
    this.#document = prepared.document;
    this.#heartbeat ??= setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
    this.#beat();
    return { revision, rebound, port: generations.address?.port ?? null };
  }

  async #abort(): Promise<void> {
    const prepared = this.#prepared;
    this.#prepared = null;
    this.#wanted = null;
    await prepared?.abort();
  }

  #askShared(question: SharedQuestion): Promise<Question> {
    return this.#channel.ask('shared', question) as Promise<Question>;
  }

  #sampling(rate: number): Sampling {
    return { rate, receive: (batch) => this.#channel.ask('sampled', batch) };
  }

  #beat(): void {
    const { generations, registry, containment, internalErrors } = this.#engine;
    const { published } = generations.current.runtime.compiled;
    const now = performance.now();
    const traffic = published.flatMap(({ endpoint, traffic: served }) => {
      const delta = served.takeDelta();
      return delta ? [[endpointId(endpoint), delta] as const] : [];
    });
    const heartbeat: Heartbeat = {
      revision: this.#serving,
      requests: generations.requests,
      calls: generations.calls,
      streams: generations.streams,
      connections: generations.connections,
      streamsByEndpoint: generations.streamsByEndpoint,
      held: generations.held,
      aborted: generations.aborted,
      headerFaults: generations.headerFaults,
      leaked: generations.leaked,
      lostLines: registry.services.sinks.lost,
      loopLagMs: Math.max(0, Math.round(now - this.#pulseAt - HEARTBEAT_MS)),
      ...resourceUse(),
      traffic,
      faults: containment.takeDelta(),
      internalErrors: internalErrors.takeDelta(),
    };
    this.#pulseAt = now;
    this.#channel.notify('heartbeat', heartbeat);
  }

  /** Finishes the requests in progress. */
  async #stop(): Promise<void> {
    // Heartbeats continue while the last requests end, because the primary kills a worker without heartbeats.
    await this.#engine.generations.close();
    clearInterval(this.#heartbeat);
    if (this.#serving > 0) this.#beat();
    this.#engine.internalErrors.close();
    await this.#engine.containment.close();
    await this.#engine.registry.close();
    this.#engine.close();
  }
}
