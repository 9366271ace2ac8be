import type { Log } from '#contract';

/** Between two lines about the same exporter, in milliseconds. */
const PAUSE_MS = 60_000;

/** Tells the log that an exporter does not get through, at most once a minute, and when it does again. */
export class Outage {
  readonly #log: Log;
  readonly #name: string;
  readonly #now: () => number;
  #toldAt = Number.NEGATIVE_INFINITY;
  #isOut = false;
  #lost = 0;

  /** @param name of the exporter, as in `exporter "collector"`. @param now milliseconds that never go back. */
  constructor(log: Log, name: string, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#name = name;
    this.#now = now;
  }

  /** What it could not send so far. */
  get lost(): number {
    return this.#lost;
  }

  /** @param lost what is gone with this failure; 0 where it is sent again. @param unit as in `spans`. */
  failed(reason: string, lost: number, unit: string): void {
    this.#isOut = true;
    this.#lost += lost;
    if (this.#now() - this.#toldAt < PAUSE_MS) return;
    this.#toldAt = this.#now();
    const losses = this.#lost === 0 ? '' : `; ${this.#lost} ${unit} lost so far`;
    this.#log.error(`${this.#name}: ${reason}${losses}`);
  }

  /** It got through. */
  passed(unit: string): void {
    if (!this.#isOut) return;
    this.#isOut = false;
    const losses = this.#lost === 0 ? '' : `; ${this.#lost} ${unit} were lost`;
    this.#log.info(`${this.#name} can be reached again${losses}`);
    this.#lost = 0;
  }
}
