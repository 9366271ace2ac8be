import { TemplateError } from '../contract/internal.ts';
import { Budget, Exceeded, Failure, type TemplateLimits } from './budget.ts';
import { positionIn, type Source } from './source.ts';
import type { Value } from './value.ts';

/** How numbers print: as JSON has them, or as Go prints a `float64`. */
export type NumberStyle = 'json' | 'go';

/** Where a stretch of the output comes from: it begins at `output` and was written at `at` of the template. */
export interface Mark {
  readonly output: number;
  readonly at: number;
  /** It is text of the source, character by character. */
  readonly isText: boolean;
  /** Where `at` is an offset: a template, or a text that a function has put in as it is. */
  readonly source: Source;
  /** The one field that was read to make it; null where it was made of none, or of several. */
  readonly read: Read | null;
}

/** A field of the data that a template has looked at. */
export interface Read {
  readonly holder: Value;
  readonly key: string;
}

/** `{{ template }}` actions inside each other. */
const MAX_CALLS = 500;

/** One filling in of a template. */
export class Run {
  readonly budget: Budget;
  readonly numbers: NumberStyle;
  /** Values of the variables of the template that is carried out. */
  slots: Value[];
  output = '';
  /** Offset, in the source, of what is carried out. */
  at = 0;
  source: Source;
  /** Null where nobody wants to know. */
  readonly marks: Mark[] | null;
  readonly #calls: { readonly source: Source; readonly at: number }[] = [];
  #read: Read | null = null;
  #reads = 0;
  /** A text that a function has just put in as it is. */
  #inserted: Source | null = null;

  constructor(source: Source, limits: TemplateLimits, numbers: NumberStyle, marks: Mark[] | null) {
    this.source = source;
    this.budget = new Budget(limits);
    this.numbers = numbers;
    this.marks = marks;
    this.slots = [];
  }

  write(text: string, at: number, isText: boolean): void {
    if (this.marks) this.#mark(text, at, isText);
    this.budget.claim(text.length);
    this.output += text;
  }

  /** Told of every field that is looked at, where somebody wants to know what the output comes from. */
  noteRead(holder: Value, key: string): void {
    this.#reads++;
    this.#read = { holder, key };
  }

  /** Told of a text of another file that stands in the output as it is. */
  noteInserted(source: Source): void {
    this.#inserted = source;
  }

  /** What is looked at from now on belongs to another action. */
  beginAction(): void {
    this.#reads = 0;
    this.#inserted = null;
  }

  #mark(text: string, at: number, isText: boolean): void {
    const output = this.output.length;
    const inserted = !isText && this.#inserted?.text === text ? this.#inserted : null;
    const read = !isText && this.#reads === 1 ? this.#read : null;
    this.marks!.push(
      inserted
        ? { output, at: 0, isText: true, source: inserted, read: null }
        : { output, at, isText, source: this.source, read },
    );
  }

  /** Carries out another template with variables of its own. */
  call(source: Source, slots: Value[], at: number, body: () => void): void {
    if (this.#calls.length >= MAX_CALLS) throw new Exceeded(`templates call each other more than ${MAX_CALLS} deep`);
    const [callerSource, callerSlots] = [this.source, this.slots];
    this.#calls.push({ source: callerSource, at });
    this.source = source;
    this.slots = slots;
    body();
    // Not where it fails: the error tells the calls that led there.
    this.source = callerSource;
    this.slots = callerSlots;
    this.#calls.pop();
  }

  /** What was thrown, with the place. */
  errorOf(cause: unknown): TemplateError {
    if (cause instanceof TemplateError) return cause;
    const calls = this.#calls.map(({ source, at }) => positionIn(source, at)).reverse();
    const position = positionIn(this.source, this.at);
    if (cause instanceof Exceeded) return new TemplateError('TEMPLATE_LIMIT', cause.message, position, { calls });
    if (cause instanceof Failure) return new TemplateError('TEMPLATE_EXECUTION', cause.message, position, { calls });
    if (cause instanceof RangeError) {
      const reason = 'the values are nested too deeply, or too large';
      return new TemplateError('TEMPLATE_LIMIT', reason, position, { calls, cause });
    }
    return new TemplateError('TEMPLATE_EXECUTION', (cause as Error).message, position, { calls, cause });
  }
}
