import { TemplateError } from '../contract/internal.ts';
import { Budget, Exceeded, Failure, type TemplateLimits } from './budget.ts';
import { positionIn, type Source } from './source.ts';
import type { Value } from './value.ts';

/** How numbers print: as JSON has them, or as Go prints a `float64`. */
export type NumberStyle = 'json' | 'go';

/** Where a stretch of the output comes from: it begins at `output` and was written at `at` of the template. */
export interface Mark {
  readonly output: number;
  /** In the template itself: of another one that it calls, where it does. */
  readonly at: number;
  /** It is text of the template itself, character by character. */
  readonly isText: boolean;
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

  constructor(source: Source, limits: TemplateLimits, numbers: NumberStyle, marks: Mark[] | null) {
    this.source = source;
    this.budget = new Budget(limits);
    this.numbers = numbers;
    this.marks = marks;
    this.slots = [];
  }

  write(text: string, at: number, isText: boolean): void {
    const [call] = this.#calls;
    this.marks?.push({ output: this.output.length, at: call?.at ?? at, isText: isText && !call });
    this.budget.claim(text.length);
    this.output += text;
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
