/** Names remembered; the oldest go first. */
const MAX_NAMES = 10_000;

/** Names that are not looked for again for a while. */
export class Cooldown {
  readonly #until = new Map<string, number>();
  readonly #ms: number;
  readonly #now: () => number;

  constructor(ms: number, now: () => number) {
    this.#ms = ms;
    this.#now = now;
  }

  add(name: string): void {
    this.#until.delete(name);
    this.#until.set(name, this.#now() + this.#ms);
    if (this.#until.size > MAX_NAMES) this.#until.delete(this.#until.keys().next().value!);
  }

  has(name: string): boolean {
    const until = this.#until.get(name);
    if (until === undefined) return false;
    if (this.#now() < until) return true;
    this.#until.delete(name);
    return false;
  }
}
