import type { ConfigError } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import { lineIndex, PositionedError } from './position.ts';
import { syntaxFault, type TextFault } from './text-format.ts';

/** Errors of a file that cannot be parsed. */
export class UnreadableError extends ConfigErrors {
  readonly text: string;

  constructor(text: string, errors: readonly ConfigError[]) {
    super(errors);
    this.text = text;
  }
}

/** Limit on reported errors: more than anyone fixes before checking again. */
const MAX_SYNTAX_FAULTS = 20;

/** Reports the first of several syntax errors on one line: the others follow from it, or will be found next time. */
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

/** Merge conflict markers in a text, as one error; undefined if the text has no start marker. */
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
