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

  /** Counts since the last call; null without any. */
  takeDelta(): FaultDelta | null {
    const { name, hash } = this;
    const faults = [...this.#unreported.values()];
    const heldMs = this.#unreportedMs;
    if (faults.length + heldMs.length === 0) return null;
    this.#unreported.clear();
    this.#unreportedMs = [];
    return { name, hash, faults, heldMs };
  }
}

function add(to: Map<string, HookFaults>, faults: HookFaults): void {
  const before = to.get(faults.hook)?.count ?? 0;
  to.set(faults.hook, { ...faults, count: before + faults.count });
}
