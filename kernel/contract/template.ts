import { CallError } from './errors.ts';

/** A compiled Go `text/template` template with the Sprig functions. */
export interface Template {
  /**
   * Renders the template.
   * @param data initial value of the dot: plain objects, arrays and scalars, of which only own keys are accessible.
   *   Functions such as `set` modify their arguments: freeze data that must not change.
   * @throws TemplateError if the execution fails or exceeds a limit.
   */
  render(data: unknown): string;
}

/** A position in the text of a template; lines and columns count from 1, columns in UTF-16 units. */
export interface TemplatePosition {
  /** Name of the template that contains the text. */
  readonly template: string;
  readonly line: number;
  readonly column: number;
  /** UTF-16 units from the start of the text. */
  readonly offset: number;
}

/**
 * A template that cannot be compiled or rendered.
 * Codes: TEMPLATE_SYNTAX, TEMPLATE_EXECUTION, TEMPLATE_LIMIT.
 */
export class TemplateError extends CallError {
  /** Error message without the position. */
  readonly reason: string;
  readonly position: TemplatePosition;
  /** The `{{ template }}` actions that led to the error, innermost first. */
  readonly calls: readonly TemplatePosition[];

  constructor(
    code: 'TEMPLATE_SYNTAX' | 'TEMPLATE_EXECUTION' | 'TEMPLATE_LIMIT',
    reason: string,
    position: TemplatePosition,
    { calls = [], cause }: { readonly calls?: readonly TemplatePosition[]; readonly cause?: unknown } = {},
  ) {
    const chain = calls.map((call) => `, called at ${showPosition(call)}`).join('');
    super(code, `${showPosition(position)}: ${reason}${chain}`, { cause });
    this.reason = reason;
    this.position = position;
    this.calls = calls;
  }
}

function showPosition({ template, line, column }: TemplatePosition): string {
  return `${template}:${line}:${column}`;
}
