import { CallError, type Data } from '#contract';

/** Values that one evaluation may look at, and that its result may hold. */
const MAX_STEPS = 1_000_000;

/** Characters of a text that an evaluation makes. */
const MAX_TEXT = 16 * 1024 * 1024;

/** A part of an expression, compiled. It changes nothing of what it is given. */
export type Evaluate = (value: Data, run: Run) => Data;

/** One evaluation: what it may still do. */
export class Run {
  #steps = MAX_STEPS;

  /** @throws CallError JMESPATH_LIMIT */
  spend(values: number): void {
    this.#steps -= values;
    if (this.#steps < 0) throw new CallError('JMESPATH_LIMIT', `the expression looks at more than ${MAX_STEPS} values`);
  }

  /** A text is about to be made. @throws CallError JMESPATH_LIMIT */
  write(characters: number): void {
    if (characters <= MAX_TEXT) return;
    throw new CallError('JMESPATH_LIMIT', `the expression makes a text of more than ${MAX_TEXT} characters`);
  }
}
