import { TemplateError, type TemplatePosition } from '../contract/internal.ts';

/** The text of one template, with its name in messages. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

/** Converts an offset to a line and a column. */
export function positionIn({ name, text }: Source, offset: number): TemplatePosition {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return { template: name, line, column: offset - lineStart + 1, offset };
}

export function syntaxError(source: Source, offset: number, reason: string): TemplateError {
  return new TemplateError('TEMPLATE_SYNTAX', reason, positionIn(source, offset));
}
