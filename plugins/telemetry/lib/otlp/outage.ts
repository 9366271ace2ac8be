import type { Log } from '#contract';

/** Shortest interval between two log lines about the same exporter, in milliseconds. */
const PAUSE_MS = 60_000;

/** Logs that an exporter is failing, at most once a minute, and when it recovers. */
export class Outage {
  readonly #log: Log;
  readonly #name: string;
  readonly #now: () => number;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #isOut = false;
  #lost = 0;

  /** @param name name of the exporter, as in `exporter "collector"`. @param now monotonic clock, in milliseconds. */
  constructor(log: Log, name: string, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#name = name;
    this.#now = now;
  }

  /** Number of items lost so far. */
  get lost(): number {
    return this.#lost;
  }

  /** Reports a failure. @param lost number of items dropped because of it; 0 if they will be sent again. @param unit name of the items, such as `spans`. */
  failed(reason: string, lost: number, unit: string): void {
    this.#isOut = true;
    this.#lost += lost;
    if (this.#now() - this.#reportedAt < PAUSE_MS) return;
    this.#reportedAt = this.#now();
    const losses = this.#lost === 0 ? '' : `; ${this.#lost} ${unit} lost so far`;
    this.#log.error(`${this.#name}: ${reason}${losses}`);
  }

  /** Reports a success. */
  passed(unit: string): void {
    if (!this.#isOut) return;
    this.#isOut = false;
    const losses = this.#lost === 0 ? '' : `; ${this.#lost} ${unit} were lost`;
    this.#log.info(`${this.#name} can be reached again${losses}`);
    this.#lost = 0;
  }
}
