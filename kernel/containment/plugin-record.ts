/** Faults of one hook of a plugin so far. */
export interface HookFaults {
  /** Name of the hook, as in `endpoint` or `transport`. */
  readonly hook: string;
  readonly count: number;
  /** Message of the last fault, which the fields below also describe. */
  readonly message: string;
  /** Place at which the plugin is configured: an endpoint, as in `GET /users`, or `the service`. */
  readonly endpoint: string;
  /** Position in the plugin's source, as in `/app/plugins/audit.ts:12:7`; null when the stack does not contain one. */
  readonly place: string | null;
  /** Time of the fault, in milliseconds since 1970. */
  readonly at: number;
}

/** Number and duration of the times at which the plugin's own code blocked the event loop for 50 ms or more. */
export interface Blocking {
  readonly count: number;
  readonly longestMs: number;
  readonly totalMs: number;
  /** Counts by upper bound, in milliseconds; the last range is unbounded. */
  readonly ranges: readonly number[];
}

/** Upper bounds of the ranges in which blocking is counted, in milliseconds; one more range lies above them. */
export const blockingBoundsMs: readonly number[] = [100, 250, 500, 1000, 5000];

/** Time that a hook of a plugin took. */
export interface HookTime {
  /** Name of the hook, as in `endpoint` or `transport`. */
  readonly hook: string;
  /**
   * Time in the synchronous code of the hook, in milliseconds, without the steps that it wraps and without code after
   * an `await`. An estimate: every 10 ms, the watchdog thread checks which hook is running.
   */
  readonly busyMs: number;
}

export interface Suspension {
  /** Start of the suspension, in milliseconds since 1970. */
  readonly since: number;
  /** Message of the last fault. */
  readonly message: string;
}

/** Changes of a plugin's record since the last report to another process. */
export interface FaultDelta {
  readonly name: string;
  readonly hash: string;
  readonly faults: readonly HookFaults[];
  /** Durations for which the event loop was blocked. */
  readonly heldMs: readonly number[];
  /** Time by hook; see `HookTime`. */
  readonly busyMs: readonly (readonly [hook: string, ms: number])[];
}

/** Maximum durations kept until the next report to another process. */
const MAX_UNREPORTED = 100;

/** Record of one content of a plugin's file: faults, blocking, suspension. */
export class PluginRecord {
  readonly name: string;
  readonly hash: string;
  /** Absolute paths of the plugin's files; empty until it is attached in this process. */
  files: ReadonlySet<string>;
  suspension: Suspension | null = null;
  /** Consecutive faults in this process since one of its hooks last succeeded. */
  inRow = 0;
  readonly #faults = new Map<string, HookFaults>();
  readonly #unreported = new Map<string, HookFaults>();
  readonly #ranges = blockingBoundsMs.map(() => 0).concat(0);
  #unreportedMs: number[] = [];
  readonly #busyMs = new Map<string, number>();
  readonly #unreportedBusyMs = new Map<string, number>();
  #longestMs = 0;
  #totalMs = 0;

  constructor(name: string, hash: string, files: readonly string[] = []) {
    this.name = name;
    this.hash = hash;
    this.files = new Set(files);
  }

  /** Faults of the plugin, by hook. */
  get faults(): readonly HookFaults[] {
    return [...this.#faults.values()];
  }

  get faultCount(): number {
    return this.faults.reduce((sum, { count }) => sum + count, 0);
  }

  get blocking(): Blocking {
    const ranges = [...this.#ranges];
    return {
      count: ranges.reduce((sum, count) => sum + count, 0),
      longestMs: this.#longestMs,
      totalMs: this.#totalMs,
      ranges,
    };
  }

  /** Counts faults. @param isOwn true when they happened in this process, so that they are reported to its owner. */
  count(faults: HookFaults, isOwn: boolean): void {
    add(this.#faults, faults);
    if (isOwn) add(this.#unreported, faults);
  }

  /** @param isOwn see `count`. */
  countBlocking(ms: number, isOwn: boolean): void {
    if (isOwn && this.#unreportedMs.push(ms) > MAX_UNREPORTED) this.#unreportedMs.shift();
    this.#longestMs = Math.max(this.#longestMs, ms);
    this.#totalMs += ms;
    const range = blockingBoundsMs.findIndex((bound) => ms <= bound);
    this.#ranges[range < 0 ? blockingBoundsMs.length : range]! += 1;
  }

  /** Time of the hooks that have run, by hook. */
  get hooks(): readonly HookTime[] {
    return Array.from(this.#busyMs, ([hook, ms]) => ({ hook, busyMs: Math.round(ms) }));
  }

  /** @param ms see `HookTime`. @param isOwn see `count`. */
  countBusy(hook: string, ms: number, isOwn: boolean): void {
    this.#busyMs.set(hook, (this.#busyMs.get(hook) ?? 0) + ms);
    if (isOwn) this.#unreportedBusyMs.set(hook, (this.#unreportedBusyMs.get(hook) ?? 0) + ms);
  }

  /** Counts since the last call; null without any. */
  takeDelta(): FaultDelta | null {
    const { name, hash } = this;
    const faults = [...this.#unreported.values()];
    const heldMs = this.#unreportedMs;
    const busyMs = [...this.#unreportedBusyMs];
    if (faults.length + heldMs.length + busyMs.length === 0) return null;
    this.#unreported.clear();
    this.#unreportedMs = [];
    this.#unreportedBusyMs.clear();
    return { name, hash, faults, heldMs, busyMs };
  }
}

function add(to: Map<string, HookFaults>, faults: HookFaults): void {
  const before = to.get(faults.hook)?.count ?? 0;
  to.set(faults.hook, { ...faults, count: before + faults.count });
}
