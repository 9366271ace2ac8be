import type { Mark } from '../../templates/index.ts';
import { lineIndex, type Position } from '../syntax/position.ts';

/** Turns places of what a template made into places of the template. */
export type ToTemplate = (position: Position) => Position;

export function createSourceMap(template: string, rendered: string, marks: readonly Mark[]): ToTemplate {
  const starts = [0];
  for (let at = rendered.indexOf('\n'); at >= 0; at = rendered.indexOf('\n', at + 1)) starts.push(at + 1);
  const show = lineIndex(template);
  const placeOf = (offset: number): { readonly at: number; readonly isText: boolean } => {
    let low = 0;
    let high = marks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (marks[middle]!.output <= offset) low = middle;
      else high = middle - 1;
    }
    const mark = marks[low];
    if (!mark) return { at: 0, isText: false };
    return { at: mark.isText ? mark.at + offset - mark.output : mark.at, isText: mark.isText };
  };
  return ({ line, column, endLine, endColumn }) => {
    const from = (starts[line - 1] ?? 0) + column - 1;
    const until = (starts[endLine - 1] ?? 0) + endColumn - 1;
    const start = placeOf(from);
    const end = until > from ? placeOf(until - 1) : start;
    // What an action has made is placed at the action, up to its closing braces.
    const close = template.indexOf('}}', Math.max(start.at, end.at));
    const last = end.isText ? end.at + Number(until > from) : close < 0 ? end.at : close + 2;
    return show({ start: start.isText ? start.at : openingOf(template, start.at), end: Math.max(start.at, last) });
  };
}

/** Where the braces of an action begin. */
function openingOf(template: string, at: number): number {
  const open = template.lastIndexOf('{{', at);
  return open < 0 ? at : open;
}
