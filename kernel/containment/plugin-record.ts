/** What went wrong in one hook of a plugin, so far. */
export interface HookFaults {
  /** As in `endpoint` or `transport`. */
  readonly hook: string;
  readonly count: number;
  /** Of the last one; so are those below. */
  readonly message: string;
  /** Where it stands in the configuration: an endpoint, as in `GET /users`, or `the service`. */
  readonly endpoint: string;
  /** In the plugin's source, as in `/app/plugins/audit.ts:12:7`; null where the stack does not say. */
  readonly place: string | null;
  /** In milliseconds since 1970. */
  readonly at: number;
}

/** Times for which the plugin's own code held the event loop, 50 ms and more. */
export interface Blocking {
  readonly count: number;
  readonly longestMs: number;
  readonly totalMs: number;
  /** By the upper end of a range, in milliseconds; the last range has none. */
  readonly ranges: readonly number[];
}

/** Upper ends of the ranges in which blocking is counted, in milliseconds; one range more lies above them. */
export const blockingBoundsMs: readonly number[] = [100, 250, 500, 1000, 5000];

export interface Suspension {
  /** In milliseconds since 1970. */
  readonly since: number;
  /** What the last fault said. */
  readonly message: string;
}

/** What one process tells another of a plugin since it last did. */
export interface FaultDelta {
  readonly name: string;
  readonly hash: string;
  readonly faults: readonly HookFaults[];
  /** Times for which the event loop was held. */
  readonly heldMs: readonly number[];
}

/** Times that are kept until another process is told. */
const MOST_UNTOLD = 100;

/** What is known of one content of a plugin's file: faults, blocking, suspension. */
export class PluginRecord {
  readonly name: string;
  readonly hash: string;
  /** Absolute paths of its files; empty until the plugin is attached in this process. */
  files: ReadonlySet<string>;
  suspension: Suspension | null = null;
  /** Faults since a hook of it last went well, in this process. */
  inRow = 0;
  readonly #faults = new Map<string, HookFaults>();
  readonly #untold = new Map<string, HookFaults>();
  readonly #ranges = blockingBoundsMs.map(() => 0).concat(0);
  #untoldMs: number[] = [];
  #longestMs = 0;
  #totalMs = 0;

  constructor(name: string, hash: string, files: readonly string[] = []) {
    this.name = name;
    this.hash = hash;
    this.files = new Set(files);
  }

  /** By hook. */
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

  /** Counts faults. @param isOwn they happened in this process, whose owner is to be told. */
  count(faults: HookFaults, isOwn: boolean): void {
    add(this.#faults, faults);
    if (isOwn) add(this.#untold, faults);
  }

  /** @param isOwn as of `count`. */
  countBlocking(ms: number, isOwn: boolean): void {
    if (isOwn && this.#untoldMs.push(ms) > MOST_UNTOLD) this.#untoldMs.shift();
    this.#longestMs = Math.max(this.#longestMs, ms);
    this.#totalMs += ms;
    const range = blockingBoundsMs.findIndex((bound) => ms <= bound);
    this.#ranges[range < 0 ? blockingBoundsMs.length : range]! += 1;
  }

  /** What was counted since this was last asked for; null for nothing. */
  takeDelta(): FaultDelta | null {
    const { name, hash } = this;
    const faults = [...this.#untold.values()];
    const heldMs = this.#untoldMs;
    if (faults.length + heldMs.length === 0) return null;
    this.#untold.clear();
    this.#untoldMs = [];
    return { name, hash, faults, heldMs };
  }
}

function add(to: Map<string, HookFaults>, faults: HookFaults): void {
  const before = to.get(faults.hook)?.count ?? 0;
  to.set(faults.hook, { ...faults, count: before + faults.count });
}
