import { CallError, type Data, isObject } from '#contract';
import { equals } from '../../../shared/values/exact-values.ts';

/** Maximum number of values that one evaluation can read, and that its result can contain. */
const MAX_STEPS = 1_000_000;

/** Number of steps between two checks of the elapsed time, and the time limit from the first check on, in milliseconds. */
const STEPS_A_LOOK = 16_384;
const MAX_MS = 1000;

/** Maximum length of the texts that an evaluation creates, in characters. */
const MAX_TEXT = 16 * 1024 * 1024;

/** Number of characters that cost as much as one value. */
const CHARACTERS_A_STEP = 512;

/** A compiled part of an expression. It does not change its input. */
export type Evaluate = (value: Data, run: Run) => Data;

/** One evaluation and its remaining budget. */
export class Run {
  #steps = MAX_STEPS;
  #nextLook = MAX_STEPS - STEPS_A_LOOK;
  #deadline = 0;
  #text = MAX_TEXT;

  /** @param values number of values to be read next. @throws CallError JMESPATH_LIMIT */
  spend(values: number): void {
    this.#steps -= values;
    if (this.#steps < this.#nextLook) this.#look();
  }

  /** Charges for the input of a function: the items of an array, the keys of an object, or a text. @throws CallError JMESPATH_LIMIT */
  spendOn(value: Data): void {
    if (typeof value === 'string') this.spend(value.length / CHARACTERS_A_STEP);
    else if (Array.isArray(value)) this.spend(value.length);
    else if (isObject(value)) this.spend(Object.keys(value).length);
  }

  /** Charges for a text to be created. @throws CallError JMESPATH_LIMIT */
  write(characters: number): void {
    this.#text -= characters;
    if (this.#text >= 0) return;
    throw new CallError('JMESPATH_LIMIT', `the expression produces strings of more than ${MAX_TEXT} characters`);
  }

  /** Charges for a value to be converted to text: all of it, counting repeated objects each time. @throws CallError JMESPATH_LIMIT */
  print(value: Data): void {
    this.spend(1);
    if (typeof value === 'string') this.write(value.length);
    else if (Array.isArray(value)) for (const item of value) this.print(item);
    else if (isObject(value)) {
      for (const key of Object.keys(value)) {
        this.write(key.length);
        this.print(value[key]!);
      }
    }
  }

  /** Compares two values as `equals` does. @throws CallError JMESPATH_LIMIT */
  areEqual(a: Data, b: Data): boolean {
    this.spend(1);
    if (a === b) return true;
    if (Array.isArray(a)) {
      return Array.isArray(b) && a.length === b.length && a.every((item, at) => this.areEqual(item, b[at]!));
    }
    if (!isObject(a) || !isObject(b)) return equals(a, b);
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    return keys.every((key) => Object.hasOwn(b, key) && this.areEqual(a[key]!, b[key]!));
  }

  #look(): void {
    if (this.#steps < 0) {
      throw new CallError('JMESPATH_LIMIT', `the expression visits more than ${MAX_STEPS} values`);
    }
    const now = performance.now();
    this.#deadline ||= now + MAX_MS;
    if (now > this.#deadline) throw new CallError('JMESPATH_LIMIT', `the expression takes longer than ${MAX_MS} ms`);
    this.#nextLook = Math.max(0, this.#steps - STEPS_A_LOOK);
  }
}
