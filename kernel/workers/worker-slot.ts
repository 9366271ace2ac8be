import cluster, { type Worker } from 'node:cluster';
import { type ListenAddress, type Log, timerMs } from '#contract';
import type { Held } from '../containment/watchdog.ts';
import { connectionOwner, GatewayError, runOwned } from '../contract/internal.ts';
import type { ListenTarget } from '../control/public-port.ts';
import type { Question } from '../runtime/build/config-build.ts';
import type { MirrorChange } from '../runtime/kept/mirrors.ts';
import type { SampleBatch } from '../server/exchange/sample.ts';
import { Channel } from './channel.ts';
import type {
  Committed,
  Heartbeat,
  MirrorMessage,
  Orders,
  PrepareOrder,
  SharedQuestion,
  WorkerEvent,
} from './messages.ts';
import { readySoon } from './ready-soon.ts';
import { readReports } from './reports.ts';
import { Silence } from './silence.ts';
import { askToPrepare } from './text-change.ts';

/** Interface between a slot and its pool. */
export interface SlotOwner {
  readonly log: Log;
  /** The configuration that a starting worker must serve; null before the first one. */
  readonly committed: PrepareOrder | null;
  /** True once workers must listen. */
  readonly listens: boolean;
  /** Listening address of another worker. */
  readonly target: ListenTarget;
  /** Addresses that no connection of a worker may reach. */
  readonly denied: readonly ListenAddress[];
  useShared(question: SharedQuestion): Question;
  onMirror(message: MirrorMessage): void;
  /** Full state of a mirrored value; undefined for an unknown one. */
  mirrorSnapshot(id: string): MirrorChange | undefined;
  onHeartbeat(heartbeat: Heartbeat): void;
  onEvent(slot: WorkerSlot, event: WorkerEvent): void;
  /** Called after an internal error of the worker, which continues to serve until a new worker has replaced it. */
  onFaulty(slot: WorkerSlot): void;
  /** Resolves when the sample is no longer needed. */
  onSample(batch: SampleBatch): Promise<unknown>;
  onUp(slot: WorkerSlot): void;
  /**
   * @param held the plugin that blocked its event loop; null for none.
   * @param pauseMs delay before another worker is started, in milliseconds.
   */
  onDown(slot: WorkerSlot, reason: string, held: Held | null, pauseMs: number): void;
}

export type WorkerState = 'starting' | 'up' | 'stopping' | 'down';

/** Longest wait for a worker to build a configuration, or to switch to it, in milliseconds. */
const PREPARE_MS = 30_000;

/** Longest wait for a worker's response to a trivial request, in milliseconds. */
const ANSWER_MS = 500;

/** Delays before a worker that keeps crashing is restarted, in milliseconds; the last one repeats. */
const PAUSES_MS = [0, 100, 500, 2_000, 5_000];

/** Uptime after which a worker no longer counts as crashing repeatedly. */
const STABLE_MS = 10_000;

/** A slot for one worker: if its process exits, a new one replaces it and serves the current configuration. */
export class WorkerSlot {
  readonly id: number;
  readonly #owner: SlotOwner;
  #worker: Worker | null = null;
  #channel: Channel | null = null;
  #state: WorkerState = 'down';
  /** Start time on the monotonic clock, in milliseconds. If the wall clock were used, setting it forward would make a crash look like a long uptime. */
  #startedAt = 0;
  #deaths = 0;
  #heartbeat: Heartbeat | null = null;
  readonly #silence = new Silence();
  /** Last report of the worker about a plugin that blocks its event loop. */
  #held: Held | null = null;
  #up: PromiseWithResolvers<void> = Promise.withResolvers();
  /** Resolves when the process has ended. */
  #gone: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(id: number, owner: SlotOwner) {
    this.id = id;
    this.#owner = owner;
  }

  get state(): WorkerState {
    return this.#state;
  }

  get pid(): number | null {
    return this.#worker?.process.pid ?? null;
  }

  get uptimeMs(): number {
    return this.#state === 'up' ? Math.round(performance.now() - this.#startedAt) : 0;
  }

  /** Last heartbeat of the worker; null before the first. */
  get heartbeat(): Heartbeat | null {
    return this.#heartbeat;
  }

  /** Resolves when the slot has a worker that serves the committed configuration, or waits for the first one. */
  get ready(): Promise<void> {
    return this.#up.promise;
  }

  /** Starts a worker and brings it to the committed configuration; retries later if the system cannot create a process. */
  start(): void {
    this.#state = 'starting';
    this.#startedAt = performance.now();
    this.#worker = null;
    this.#channel = null;
    this.#gone = Promise.withResolvers();
    const owner = connectionOwner('worker', `worker ${this.id}`, (error) => this.#onFault(error));
    try {
      runOwned(owner, () => this.#fork());
    } catch (error) {
      this.#onGone(`cannot be started: ${(error as Error).message}`);
    }
  }

  #fork(): void {
    const worker = cluster.fork();
    this.#worker = worker;
    const channel: Channel = new Channel(worker, {
      ready: () => this.#bringUp(channel),
      shared: (question: SharedQuestion) => this.#owner.useShared(question),
      mirror: (message: MirrorMessage) => this.#owner.onMirror(message),
      snapshot: (id: string) => this.#owner.mirrorSnapshot(id),
      heartbeat: (heartbeat: Heartbeat) => {
        this.#heartbeat = heartbeat;
        this.#held = null;
        this.#silence.restart(() => this.#onSilent(worker));
        this.#owner.onHeartbeat(heartbeat);
      },
      event: (event: WorkerEvent) => this.#owner.onEvent(this, event),
      faulty: () => this.#owner.onFaulty(this),
      sampled: (batch: SampleBatch) => this.#owner.onSample(batch),
    });
    this.#channel = channel;
    // An error of the channel is followed by `exit`; for a process that could not be started, it is the only event.
    worker.on('error', (error) => {
      if (worker.process.pid === undefined) this.#onGone(`cannot be started: ${error.message}`);
    });
    worker.once('exit', (code, signal) => this.#onGone(signal ?? `exit code ${code}`));
    readReports(worker, (held) => {
      this.#held = held;
    });
  }

  /** Called after an error in one of the handlers here: messages to the worker, or from it, may be lost. */
  #onFault({ message }: Error): void {
    if (this.#worker?.isDead()) this.#onGone(message);
    else this.#owner.onFaulty(this);
  }

  /** Replaces a worker whose event loop is blocked: nothing else can end that. */
  #onSilent(worker: Worker): void {
    if (this.#worker === worker && this.#state !== 'down') worker.process.kill('SIGKILL');
  }

  async #bringUp(channel: Channel): Promise<void> {
    const { committed, listens, denied, log } = this.#owner;
    try {
      await channel.ask('deny', denied, PREPARE_MS);
      if (committed) {
        await channel.ask('prepare', committed, PREPARE_MS);
        const { revision } = (await channel.ask('commit', committed.revision, PREPARE_MS)) as Committed;
        if (revision !== committed.revision) throw new Error(`it uses revision ${revision}`);
        if (listens) await channel.ask('listen', this.#owner.target, PREPARE_MS);
        // If another configuration was committed while the worker started, the worker must load it.
        if (this.#owner.committed !== committed) return await this.#bringUp(channel);
      }
      if (this.#state === 'stopping') return;
      this.#state = 'up';
      this.#up.resolve();
      this.#owner.onUp(this);
    } catch (error) {
      log.error(`worker ${this.id} failed to start: ${(error as Error).message}`);
      this.#worker!.process.kill('SIGKILL');
    }
  }

  #onGone(reason: string): void {
    this.#silence.stop();
    this.#channel?.close();
    this.#gone.resolve();
    const before = this.#state;
    this.#state = 'down';
    if (before === 'stopping') return;
    this.#heartbeat = null;
    if (before === 'up') this.#up = Promise.withResolvers();
    this.#deaths = performance.now() - this.#startedAt > STABLE_MS ? 0 : this.#deaths + 1;
    const pauseMs = PAUSES_MS[Math.min(this.#deaths, PAUSES_MS.length - 1)]!;
    this.#owner.onDown(this, reason, this.#held, pauseMs);
    this.#held = null;
    setTimeout(() => {
      if (this.#state === 'down') this.start();
    }, pauseMs);
  }

  /** @throws the worker's rejection of the configuration; GatewayError PREPARE_TIMEOUT when the worker is late or dies. */
  async prepare(order: PrepareOrder): Promise<void> {
    try {
      await readySoon(this.ready, PREPARE_MS);
      await askToPrepare(this.#channel!, this.#owner.committed, order, PREPARE_MS);
    } catch (error) {
      if (!(error instanceof GatewayError) || !error.code.startsWith('CHANNEL_')) throw error;
      throw new GatewayError('PREPARE_TIMEOUT', `worker ${this.id} is not ready: ${error.message}`, error);
    }
  }

  /**
   * Resolves when the worker, or its replacement, serves the committed configuration: with the worker's response, or
   * null for a replacement. If neither does in time, this is logged, and attempts continue.
   * @param revision the committed revision.
   */
  async commit(revision: number): Promise<Committed | null> {
    if (this.#state === 'up') {
      const committed = this.#channel!.ask('commit', revision, PREPARE_MS) as Promise<Committed>;
      const outcome = await committed.catch((error: Error) => error);
      if (outcome instanceof Error) this.#bringUpAgain(outcome.message);
      else if (outcome.revision === revision) return outcome;
      else this.#bringUpAgain(`it uses revision ${outcome.revision}`);
    }
    // A replacement is being started, and will serve the committed configuration.
    await readySoon(this.ready, PREPARE_MS).catch((error: Error) => {
      this.#owner.log.error(`worker ${this.id} has not switched to revision ${revision} yet: ${error.message}`);
    });
    return null;
  }

  /** A worker that has died is replaced by a worker that starts with the committed configuration. */
  #bringUpAgain(why: string): void {
    if (this.#state !== 'up') return;
    this.#owner.log.error(`worker ${this.id} did not switch to the new revision (${why}); retrying`);
    this.#state = 'starting';
    this.#up = Promise.withResolvers();
    void this.#bringUp(this.#channel!);
  }

  /** A worker that is starting prepares the committed configuration, not the configuration that is aborted here. */
  async abort(): Promise<void> {
    if (this.#state !== 'up') return;
    await this.#channel?.ask('abort').catch(() => {});
  }

  /** Opens the port in the worker. @throws GatewayError LISTEN_FAILED. */
  async listen(target: ListenTarget): Promise<{ host: string; port: number }> {
    return (await this.#channel!.ask('listen', target)) as { host: string; port: number };
  }

  /** Response of the worker to a trivial request; null if it does not respond soon. */
  async askSoon<T>(name: string, payload: unknown = null): Promise<T | null> {
    const response = this.#channel?.ask(name, payload, ANSWER_MS).catch(() => null);
    return ((await response) ?? null) as T | null;
  }

  /** Current requests and streams of the worker; its last reported figure if it does not respond soon. */
  async countInFlight(): Promise<number> {
    const { calls = 0, streams = 0 } = this.#heartbeat ?? {};
    return (await this.askSoon<number>('inFlight')) ?? calls + streams;
  }

  /** Sends an order to the worker that has no response. */
  tell<Name extends keyof Orders>(name: Name, order: Orders[Name]): void {
    this.#channel?.notify(name, order);
  }

  /**
   * Sends the denied addresses to the worker. Resolves when the worker has them; one that is starting receives them at
   * the start.
   */
  async deny(all: readonly ListenAddress[]): Promise<void> {
    await this.askSoon('deny', all);
  }

  mirror(message: MirrorMessage): void {
    this.#channel?.notify('mirror', message);
  }

  /** Stops the worker once its requests have ended. @param waitMs time after which it is killed. Default: no limit. */
  async stop(waitMs = Number.POSITIVE_INFINITY): Promise<void> {
    const isGone = this.#state === 'down';
    this.#state = 'stopping';
    if (isGone) return;
    const worker = this.#worker;
    const late = Number.isFinite(waitMs)
      ? setTimeout(() => worker?.process.kill('SIGKILL'), timerMs(waitMs))
      : undefined;
    await this.#channel?.ask('stop').catch(() => {});
    await this.#gone.promise;
    clearTimeout(late);
  }
}
