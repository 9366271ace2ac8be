import type { ListenAddress, Log, LogLevel } from '#contract';
import type { Containment } from '../containment/containment.ts';
import type { InternalErrors } from '../containment/internal-errors.ts';
import { describeHeld, type Held } from '../containment/watchdog.ts';
import { type DeniedAddresses, GatewayError } from '../contract/internal.ts';
import type { EventLog } from '../control/event-log.ts';
import type { GenerationInfo, Generations } from '../control/generations.ts';
import type { ObservedPart } from '../control/observation/observed-request.ts';
import type { Next, Participant, Ready } from '../control/participant.ts';
import type { ListenOptions, ListenTarget } from '../control/public-port.ts';
import { reloadSettings } from '../control/reload-settings.ts';
import type { Question } from '../runtime/build/config-build.ts';
import type { MirrorChange, Mirrors } from '../runtime/kept/mirrors.ts';
import { freeListenAddress } from '../runtime/kept/unix-socket.ts';
import type { SampleBatch, Sampling } from '../server/exchange/sample.ts';
import { Handovers } from './handovers.ts';
import { HeldRuntimes } from './held-runtimes.ts';
import type {
  Heartbeat,
  MirrorMessage,
  PrepareOrder,
  SharedQuestion,
  WorkerEvent,
  WorkerSettings,
} from './messages.ts';
import { prepareSlots } from './prepare-slots.ts';
import { setUpWorkers } from './reports.ts';
import { Succession } from './succession.ts';
import {
  describeWorker,
  exitLine,
  heldBy,
  mergeTraffic,
  streamsBy,
  sum,
  totalOf,
  type WorkerInfo,
} from './worker-info.ts';
import { type SlotOwner, WorkerSlot } from './worker-slot.ts';

export interface WorkerPoolOptions {
  readonly count: number;
  /** The program that workers run, with its arguments; the settings are appended as JSON. */
  readonly program: string;
  readonly args: readonly string[];
  readonly settings: WorkerSettings;
  readonly generations: Generations;
  readonly mirrors: Mirrors;
  readonly denied: DeniedAddresses;
  readonly containment: Containment;
  readonly internalErrors: InternalErrors;
  readonly events: EventLog;
  readonly log: Log;
}

/**
 * The serving processes under a primary. The primary reads and builds every configuration itself first; then all
 * workers prepare what it read, and only when every worker is ready do all switch over.
 */
export class WorkerPool implements Participant, SlotOwner {
  readonly log: Log;
  readonly #slots: WorkerSlot[];
  readonly #succession: Succession;
  readonly #generations: Generations;
  readonly #mirrors: Mirrors;
  readonly #denied: DeniedAddresses;
  readonly #containment: Containment;
  readonly #internalErrors: InternalErrors;
  readonly #events: EventLog;
  readonly #runtimes = new HeldRuntimes();
  readonly #handovers = new Handovers();
  /** Slots whose worker has exited and whose replacement does not serve yet. */
  readonly #fallen = new WeakSet<WorkerSlot>();
  #committed: PrepareOrder | null = null;
  /** Whether some workers may not serve the committed configuration yet. */
  #committing = false;
  #listens = false;
  target: ListenTarget = { known: null };
  #closing = false;
  #sampling: Sampling | null = null;

  constructor(options: WorkerPoolOptions) {
    const { count, program, args, settings, generations, mirrors } = options;
    this.log = options.log;
    this.#denied = options.denied;
    this.#containment = options.containment;
    this.#internalErrors = options.internalErrors;
    this.#events = options.events;
    this.#generations = generations;
    this.#mirrors = mirrors;
    mirrors.link = {
      send: (id, change) => {
        for (const slot of this.#all) slot.mirror({ id, change });
      },
      fetch: null,
    };
    setUpWorkers(program, args, settings);
    this.#slots = Array.from({ length: count }, (_, index) => new WorkerSlot(index + 1, this));
    for (const slot of this.#slots) slot.start();
    this.#succession = new Succession({
      successorOf: ({ id }) => new WorkerSlot(id, this),
      drainMs: () => reloadSettings(generations.current.runtime).drainMs,
    });
  }

  /** Also includes workers that do not serve yet, and those that are draining. */
  get #all(): readonly WorkerSlot[] {
    return [...this.#slots, ...this.#succession.workers];
  }

  get committed(): PrepareOrder | null {
    return this.#committed;
  }

  get listens(): boolean {
    return this.#listens;
  }

  get port(): number | null {
    return this.target.known || null;
  }

  get denied(): readonly ListenAddress[] {
    return this.#denied.all;
  }

  get converged(): boolean {
    return this.#slots.every(
      ({ state, heartbeat }) => state === 'up' && heartbeat?.revision === this.#committed?.revision,
    );
  }

  get serving(): boolean {
    return this.#slots.some(({ state }) => state === 'up');
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** Configurations held by all workers, newest first; may be slightly stale. */
  get held(): readonly GenerationInfo[] {
    return heldBy(this.#all);
  }

  // Totals of all workers since the gateway started, including workers that have exited.
  get aborted(): number {
    return totalOf(this.#slots, 'aborted');
  }

  get headerFaults(): number {
    return totalOf(this.#slots, 'headerFaults');
  }

  get leaked(): number {
    return totalOf(this.#slots, 'leaked');
  }

  get streamsByEndpoint(): ReadonlyMap<string, number> {
    return streamsBy(this.#all);
  }

  get workers(): readonly WorkerInfo[] {
    return this.#slots.map(describeWorker);
  }

  async prepare({ runtime, snapshot, files, secrets, signal }: Next): Promise<Ready> {
    await freeListenAddress(runtime.config.listen_ip);
    const order: PrepareOrder = { revision: runtime.id, file: snapshot.file, text: snapshot.text, files, secrets };
    const abort = await prepareSlots(this.#slots, order, signal);
    return {
      commit: async () => {
        this.#committed = order;
        this.#runtimes.hold(runtime);
        this.#committing = true;
        const committed = await Promise.all(this.#slots.map((slot) => slot.commit(order.revision)));
        this.#committing = false;
        this.#releaseRuntimes();
        const known = committed.find((one) => one?.port)?.port ?? this.port;
        this.target = { ...this.target, known };
        return [...new Set(committed.flatMap((one) => one?.rebound ?? []))];
      },
      abort,
    };
  }

  /** Opens the port in every worker. @throws GatewayError LISTEN_FAILED. */
  async listen(address: ListenOptions): Promise<{ host: string; port: number }> {
    const addresses = await Promise.all(this.#slots.map((slot) => slot.listen({ known: null, address })));
    this.#listens = true;
    const [first] = addresses;
    this.target = { known: first!.port, address };
    return first!;
  }

  async countInFlight(): Promise<number> {
    return sum(await Promise.all(this.#all.map((slot) => slot.countInFlight())));
  }

  async observe(id: string): Promise<readonly ObservedPart[]> {
    const parts = this.#all.map((slot) => slot.askSoon<ObservedPart>('observe', id));
    return (await Promise.all(parts)).filter((part) => part !== null);
  }

  unobserve(id: string): void {
    for (const slot of this.#all) slot.tell('unobserve', id);
  }

  setClosing(closing: boolean): void {
    this.#closing = closing;
    for (const slot of this.#all) slot.tell('closing', closing);
  }

  sample(sampling: Sampling | null): void {
    this.#sampling = sampling;
    for (const slot of this.#all) slot.tell('sample', sampling?.rate ?? null);
  }

  async onSample(batch: SampleBatch): Promise<void> {
    await this.#sampling?.receive(batch);
  }

  /** Applies the denied addresses of this process to every worker; resolves when all have them. */
  async shareDenied(): Promise<void> {
    await Promise.all(this.#all.map((slot) => slot.deny(this.denied)));
  }

  /** Sets the lowest level that workers log, until their next configuration. */
  setLogLevel(level: LogLevel): void {
    for (const slot of this.#all) slot.tell('level', level);
  }

  onMirror({ id, change }: MirrorMessage): void {
    this.#mirrors.change(id, change);
  }

  mirrorSnapshot(id: string): MirrorChange | undefined {
    return this.#mirrors.snapshot(id);
  }

  useShared({ revision, id, question }: SharedQuestion): Question {
    const use = this.#generations.shared(revision, id);
    if (!use) throw new GatewayError('SHARED_UNKNOWN', `the shared value ${id} does not exist`);
    return use(question);
  }

  /** Releases configurations that no worker serves, with the values that workers shared. */
  #releaseRuntimes(): void {
    if (this.#committing) return;
    const served = new Set([this.#committed?.revision, ...this.held.map(({ revision }) => revision)]);
    this.#runtimes.release((revision) => !served.has(revision));
  }

  onHeartbeat({ traffic, faults, internalErrors }: Heartbeat): void {
    this.#containment.merge(faults);
    this.#internalErrors.merge(internalErrors);
    this.#releaseRuntimes();
    if (traffic.length > 0) mergeTraffic(this.#generations.current.runtime.compiled.published, traffic);
  }

  onEvent({ id }: WorkerSlot, { type, data }: WorkerEvent): void {
    this.#events.emit(type, { ...data, worker: id });
  }

  onFaulty(slot: WorkerSlot): void {
    if (this.#slots.includes(slot)) this.#succession.replace(slot);
  }

  onUp(slot: WorkerSlot): void {
    const { id, pid } = slot;
    const replaced = this.#succession.takeOver(slot);
    if (replaced) {
      this.#slots[this.#slots.indexOf(replaced)] = slot;
      this.log.warning(`worker ${id} (pid ${replaced.pid}) had an internal error; replaced by pid ${pid}`);
    }
    if (this.#fallen.delete(slot)) this.log.info(`worker ${id} (pid ${pid}) is running again`);
    // If the gateway is draining, a replacement worker must also close its connections.
    slot.tell('closing', this.#closing);
    if (this.#sampling) slot.tell('sample', this.#sampling.rate);
    this.#events.emit('worker.up', { worker: id, pid });
  }

  onDown(slot: WorkerSlot, signal: string, held: Held | null, pauseMs: number): void {
    const { id, pid } = slot;
    const reason = held ? `${signal}: ${describeHeld(held)}` : signal;
    // The worker could not send its last report itself, so its faults are counted here.
    if (held) this.#containment.mergeHeld(held);
    this.#fallen.add(slot);
    this.log.warning(exitLine(slot, reason, pauseMs));
    this.#events.emit('worker.down', { worker: id, pid, reason });
    this.#releaseRuntimes();
  }

  /** Stops every worker once its requests have ended. */
  async close(): Promise<void> {
    await Promise.all([this.#succession.close(), ...this.#slots.map((slot) => slot.stop())]);
    this.#handovers.close();
    this.#runtimes.release(() => true);
  }
}
