/** What one filling in of a template may take; more of it is an error. */
export interface TemplateLimits {
  /** Actions, rounds of loops, calls and values that are looked at. Default 1,000,000. */
  readonly steps: number;
  /** Default 500. */
  readonly milliseconds: number;
  /** Of the output and of all texts that functions make on the way, in UTF-16 units. Default 32 Mi. */
  readonly characters: number;
}

export const DEFAULT_LIMITS: TemplateLimits = { steps: 1_000_000, milliseconds: 500, characters: 32 * 1024 * 1024 };

/** Why a template was given up: it is told where by whoever carries it out. */
export class Exceeded extends Error {}

/** A mistake that only shows when a template is carried out: the message says what, whoever carries it out where. */
export class Failure extends Error {}

/** Steps between two looks at the clock. */
const STEPS_A_LOOK = 1024;

/** What filling in one template may still take. */
export class Budget {
  readonly #limits: TemplateLimits;
  readonly #deadline: number;
  /** Until the clock is looked at; what is left of the steps behind that. */
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

  /** Takes steps: one for each action, round, call and value that is looked at. @throws Exceeded. */
  spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) this.#look();
  }

  /** Takes characters, of the output or of a text that a function makes, before they are made. @throws Exceeded. */
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
