import type { ConfigError } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import { lineIndex, PlacedError } from './position.ts';
import type { TextFault } from './text-format.ts';

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
  const place = lineIndex(text);
  const lines = new Set<number>();
  const errors = faults
    .toSorted((one, other) => one.stretch.start - other.stretch.start)
    .flatMap(({ code, pointer, message, hint, stretch, mend, related = [] }) => {
      const position = place(stretch);
      if (code === 'CONFIG_SYNTAX') {
        if (lines.has(position.line) || lines.size === MAX_SYNTAX_FAULTS) return [];
        lines.add(position.line);
      }
      const places = related.map((other) => ({ pointer, message: other.message, position: place(other.stretch) }));
      return [new PlacedError(code, pointer, message, { file, position, hint, mend, places })];
    });
  return new UnreadableError(text, errors);
}
