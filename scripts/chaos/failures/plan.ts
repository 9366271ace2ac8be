/** Failure of a system operation, such as `{ operation: 'open', error: 'EMFILE', probability: 0.1 }`. */
export interface Fault {
  readonly operation: Operation;
  /** Error code of the system. Absent for an operation that is only slow, or that returns a wrong result. */
  readonly error?: string;
  /** Number of the first call that fails, counted from 1; `times` calls fail in total. Default: every call. */
  readonly nth?: number;
  readonly times?: number;
  /** Probability that a call fails, from 0 to 1. Default: 1. */
  readonly probability?: number;
  /** Regular expression that the subject must match: the path of a file, the `host:port` of a connection, the name of a lookup. */
  readonly match?: string;
  /** Time before the operation begins or fails, in milliseconds. */
  readonly delayMs?: number;
  /** Address that a lookup returns. */
  readonly address?: string;
}

/** System operations. `read` and `write` apply to files, `send` and `receive` to connections. */
export type Operation =
  | 'open'
  | 'read'
  | 'write'
  | 'rename'
  | 'sync'
  | 'connect'
  | 'send'
  | 'receive'
  | 'lookup'
  | 'resolve';

/** The failures of a process at one time. */
export interface Plan {
  /** Seed of the random numbers. */
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** Milliseconds by which the clock is wrong. Only `Date` is affected, because the monotonic clock is never set. */
  readonly clockMs?: number;
  /** Time for which the event loop is blocked, and the pause between blocks, in milliseconds. */
  readonly hold?: { readonly ms: number; readonly everyMs: number };
  /** Size of the garbage that is created after every pause, in MiB. */
  readonly garbage?: { readonly mib: number; readonly everyMs: number };
}

export const noFailures: Plan = { seed: 1, faults: [] };

/** Outcome of a call that a fault applies to. */
export interface Failing {
  readonly error: NodeJS.ErrnoException | null;
  readonly delayMs: number;
  readonly address: string | undefined;
}

/** Decides which calls fail. The plan may change at any time; calls are counted for each plan. */
export class Failures {
  #plan: Plan = noFailures;
  #counts: number[] = [];
  #state = 1;
  /** Number of calls that failed, by operation and code. */
  readonly injected = new Map<string, number>();

  get plan(): Plan {
    return this.#plan;
  }

  set plan(plan: Plan) {
    this.#plan = plan;
    this.#counts = plan.faults.map(() => 0);
    this.#state = plan.seed | 0;
  }

  /** @param subject as for `match`. @returns null for a call that does not fail. */
  decide(operation: Operation, subject: string): Failing | null {
    for (const [at, fault] of this.#plan.faults.entries()) {
      if (fault.operation !== operation) continue;
      if (fault.match !== undefined && !new RegExp(fault.match).test(subject)) continue;
      const count = ++this.#counts[at]!;
      const { nth = 1, times = Number.POSITIVE_INFINITY, probability = 1 } = fault;
      if (count < nth || count >= nth + times || (probability < 1 && this.#chance() >= probability)) continue;
      const { error: code, delayMs = 0, address } = fault;
      const name = `${operation} ${code ?? (address === undefined ? 'late' : 'wrong')}`;
      this.injected.set(name, (this.injected.get(name) ?? 0) + 1);
      return { error: code === undefined ? null : systemError(code, operation, subject), delayMs, address };
    }
    return null;
  }

  /** Returns a random number by the algorithm Mulberry32. */
  #chance(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }
}

function systemError(code: string, syscall: string, subject: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: injected, ${syscall} '${subject}'`), { code, syscall, errno: -1 });
}
