import { TemplateError } from '../contract/internal.ts';
import { Budget, Exceeded, Failure, type TemplateLimits } from './budget.ts';
import { positionIn, type Source } from './source.ts';
import type { Value } from './value.ts';

/** Number format: as in JSON, or as Go prints a `float64`. */
export type NumberStyle = 'json' | 'go';

/** Origin of the output from the offset `output` up to the next mark: the text at the offset `at` of the source. */
export interface Mark {
  readonly output: number;
  readonly at: number;
  /** True if the output is literal text of the source, character by character. */
  readonly isText: boolean;
  /** The template, or a text that a function inserted unchanged. */
  readonly source: Source;
  /** The only field that was read to produce the output; null if none or several were read. */
  readonly read: Read | null;
}

/** A field of the data that a template read. */
export interface Read {
  readonly holder: Value;
  readonly key: string;
}

/** Maximum depth of nested `{{ template }}` actions. */
const MAX_CALLS = 500;

/** One execution of a template. */
export class Run {
  readonly budget: Budget;
  readonly numbers: NumberStyle;
  /** Values of the current template's variables. */
  slots: Value[];
  output = '';
  /** Offset of the current action in the source. */
  at = 0;
  source: Source;
  /** Positions of the output in its sources; null if they are not recorded. */
  readonly marks: Mark[] | null;
  readonly #calls: { readonly source: Source; readonly at: number }[] = [];
  #read: Read | null = null;
  #reads = 0;
  /** Text that a function has just inserted unchanged. */
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

  /** Records that a field was read, so that the output can be traced to it. */
  noteRead(holder: Value, key: string): void {
    this.#reads++;
    this.#read = { holder, key };
  }

  /** Records that a text of another file is inserted into the output unchanged. */
  noteInserted(source: Source): void {
    this.#inserted = source;
  }

  /** Begins a new action, to which the following reads belong. */
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

  /** Executes another template with variables of its own. */
  call(source: Source, slots: Value[], at: number, body: () => void): void {
    if (this.#calls.length >= MAX_CALLS) throw new Exceeded(`templates call each other more than ${MAX_CALLS} deep`);
    const [callerSource, callerSlots] = [this.source, this.slots];
    this.#calls.push({ source: callerSource, at });
    this.source = source;
    this.slots = slots;
    body();
    // Not executed after an error, so that the error lists the calls that led to it.
    this.source = callerSource;
    this.slots = callerSlots;
    this.#calls.pop();
  }

  /** Converts a thrown value to an error with its position. */
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
