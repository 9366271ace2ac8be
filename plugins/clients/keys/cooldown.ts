import { hash } from 'node:crypto';

/** Maximum number of names remembered; the oldest are dropped first. */
const MAX_NAMES = 10_000;
/** Longest name that is remembered literally: clients choose the key names in tokens. */
const MAX_LENGTH = 64;

/** Names that are not looked up again for a while. */
export class Cooldown {
  readonly #until = new Map<string, number>();
  readonly #ms: number;
  readonly #now: () => number;

  constructor(ms: number, now: () => number) {
    this.#ms = ms;
    this.#now = now;
  }

  add(written: string): void {
    const name = shortened(written);
    this.#until.delete(name);
    this.#until.set(name, this.#now() + this.#ms);
    if (this.#until.size > MAX_NAMES) this.#until.delete(this.#until.keys().next().value!);
  }

  has(written: string): boolean {
    if (this.#until.size === 0) return false;
    const name = shortened(written);
    const until = this.#until.get(name);
    if (until === undefined) return false;
    if (this.#now() < until) return true;
    this.#until.delete(name);
    return false;
  }
}

function shortened(name: string): string {
  return name.length > MAX_LENGTH ? hash('sha256', name, 'base64url') : name;
}
