/** Limits of one template execution; exceeding one is an error. */
export interface TemplateLimits {
  /** Actions, loop iterations, calls and inspected values. Default: 1,000,000. */
  readonly steps: number;
  /** Maximum rendering time, in milliseconds. Default: 500. */
  readonly milliseconds: number;
  /** Size of the output and of all intermediate texts that functions create, in UTF-16 units. Default: 32 Mi. */
  readonly characters: number;
}

export const DEFAULT_LIMITS: TemplateLimits = { steps: 1_000_000, milliseconds: 500, characters: 32 * 1024 * 1024 };

/** A limit was exceeded; the executor adds the location. */
export class Exceeded extends Error {}

/** An error during the execution of a template: the message gives the reason, the executor adds the location. */
export class Failure extends Error {}

/** Number of steps after which the clock is checked. */
const STEPS_A_LOOK = 1024;

/** The remaining budget of one template execution. */
export class Budget {
  readonly #limits: TemplateLimits;
  readonly #deadline: number;
  /** Number of steps until the next check of the clock; `#stepsLater` counts the steps after it. */
  #steps: number;
  #stepsLater: number;
  #characters: number;

  constructor(limits: TemplateLimits) {
    this.#limits = limits;
    this.#deadline = performance.now() + limits.milliseconds;
    this.#steps = Math.min(limits.steps, STEPS_A_LOOK);
    this.#stepsLater = limits.steps - this.#steps;
    this.#characters = limits.characters;
  }

  /** Consumes steps: one for each action, iteration, call and inspected value. @throws Exceeded. */
  spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) this.#look();
  }

  /** Consumes characters, of the output or of a text that a function creates, before they are created. @throws Exceeded. */
  claim(characters: number): void {
    this.#characters -= characters;
    if (!(this.#characters >= 0)) {
      throw new Exceeded(`produces more than ${this.#limits.characters} characters`);
    }
  }

  #look(): void {
    if (performance.now() > this.#deadline) throw new Exceeded(`takes longer than ${this.#limits.milliseconds} ms`);
    if (this.#steps + this.#stepsLater < 0) throw new Exceeded(`takes more than ${this.#limits.steps} steps`);
    const left = this.#steps + this.#stepsLater;
    this.#steps = Math.min(left, STEPS_A_LOOK);
    this.#stepsLater = left - this.#steps;
  }
}
