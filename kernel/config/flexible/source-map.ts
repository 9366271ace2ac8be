import type { Mark, Source } from '../../templates/index.ts';
import { lineIndex, type Position, type TextRange } from '../syntax/position.ts';

/** Maps rendered output to its sources. */
export interface SourceMap {
  /** Converts a position in the output to offsets. */
  rangeOf(position: Position): TextRange;
  /** Maps a position in the output to the template, or to another file that it comes from. */
  toSource(position: Position): Position;
  /** Returns the origin of the output at an offset, and the end of the output that has the same origin. */
  stretchAt(offset: number): { readonly mark: Mark; readonly end: number } | undefined;
}

/** @param main name of the template. @param pathOf returns the file of another source by its name. */
export function createSourceMap(
  main: string,
  rendered: string,
  marks: readonly Mark[],
  pathOf: (name: string) => string,
): SourceMap {
  const starts = [0];
  for (let at = rendered.indexOf('\n'); at >= 0; at = rendered.indexOf('\n', at + 1)) starts.push(at + 1);
  const indexes = new Map<string, ReturnType<typeof lineIndex>>();
  const show = ({ name, text }: Source, range: TextRange): Position => {
    const index = indexes.get(text) ?? lineIndex(text);
    indexes.set(text, index);
    const position = index(range);
    return name === main ? position : { ...position, file: pathOf(name) };
  };
  const stretchAt = (offset: number) => {
    let low = 0;
    let high = marks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (marks[middle]!.output <= offset) low = middle;
      else high = middle - 1;
    }
    const mark = marks[low];
    return mark && { mark, end: marks[low + 1]?.output ?? rendered.length };
  };
  const rangeOf = ({ line, column, endLine, endColumn }: Position): TextRange => ({
    start: (starts[line - 1] ?? 0) + column - 1,
    end: (starts[endLine - 1] ?? 0) + endColumn - 1,
  });
  return {
    rangeOf,
    stretchAt,
    toSource(position) {
      const { start: from, end: until } = rangeOf(position);
      const first = stretchAt(from);
      if (!first) return { line: 1, column: 1, endLine: 1, endColumn: 1 };
      const { source } = first.mark;
      const last = until > from ? stretchAt(until - 1)! : first;
      // A range that ends in another source is cut off where the output of the first source ends.
      const isSame = last.mark.source === source;
      const end = isSame
        ? endIn(last.mark, until - Number(until > from)) + Number(until > from && last.mark.isText)
        : 0;
      const start = first.mark.isText
        ? first.mark.at + from - first.mark.output
        : openingOf(source.text, first.mark.at);
      const own = endIn(first.mark, first.mark.isText ? first.end : from);
      return show(source, { start, end: Math.max(start, isSame ? end : own) });
    },
  };
}

/** Source offset for an offset in the output; for the output of an action, the offset after its closing braces. */
function endIn({ source, at, isText, output }: Mark, offset: number): number {
  if (isText) return at + offset - output;
  const close = source.text.indexOf('}}', at);
  return close < 0 ? at : close + 2;
}

/** Offset of an action's opening braces. */
function openingOf(template: string, at: number): number {
  const open = template.lastIndexOf('{{', at);
  return open < 0 ? at : open;
}
