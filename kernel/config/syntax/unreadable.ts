import type { ConfigError } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import { lineIndex, PositionedError } from './position.ts';
import { syntaxFault, type TextFault } from './text-format.ts';

/** The mistakes of a file that cannot be read as data. */
export class UnreadableError extends ConfigErrors {
  readonly text: string;

  constructor(text: string, errors: readonly ConfigError[]) {
    super(errors);
    this.text = text;
  }
}

/** More than anyone repairs before checking again. */
const MAX_SYNTAX_FAULTS = 20;

/** Of the syntax errors on one line the first is told: the others follow from it, or will be found next time. */
export function unreadable(text: string, file: string, faults: readonly TextFault[]): UnreadableError {
  const location = lineIndex(text);
  const lines = new Set<number>();
  const errors = faults
    .toSorted((one, other) => one.range.start - other.range.start)
    .flatMap(({ code, pointer, message, hint, range, mend, related = [] }) => {
      const position = location(range);
      if (code === 'CONFIG_SYNTAX') {
        if (lines.has(position.line) || lines.size === MAX_SYNTAX_FAULTS) return [];
        lines.add(position.line);
      }
      const places = related.map((other) => ({ pointer, message: other.message, position: location(other.range) }));
      return [new PositionedError(code, pointer, message, { file, position, hint, mend, places })];
    });
  return new UnreadableError(text, errors);
}
const marks = /^(?:<{7}|\|{7}|={7}|>{7})(?:[ \t].*)?$/gm;

/** The marks that a merge has left in a text, as one mistake; undefined for a text without a beginning of one. */
export function conflictMarks(text: string): TextFault | undefined {
  if (!/^<{7}/m.test(text)) return undefined;
  const [first, ...others] = Array.from(text.matchAll(marks), ({ 0: mark, index }) => ({
    start: index,
    end: index + mark.trimEnd().length,
  }));
  return (
    first && {
      ...syntaxFault('merge conflict marks', first, 'keep one of the versions and remove the marks'),
      related: others.map((range) => ({ message: 'another mark', range })),
    }
  );
}
