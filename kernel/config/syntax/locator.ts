import { parsePointer } from '../pointer.ts';
import { type Finder, type Locate, lineIndex, type Position, type TextRange, type ValueAt } from './position.ts';
import { withinLiteral } from './string-literal.ts';
import type { Format } from './text-format.ts';

/** Finds places in a text, which is parsed again, with places, when one is first asked for. */
export function locator(text: string, format: Format, valueAt: ValueAt): Locate {
  let find: Finder | undefined;
  let place: ((stretch: TextRange) => Position) | undefined;
  return (pointer, part, range) => {
    find ??= format.finder(text);
    const steps = parsePointer(pointer);
    const value = range && valueAt(pointer);
    // A stretch of what is no text is one of its key.
    const isOfKey = part === 'key' || (range !== undefined && typeof value !== 'string');
    const stretch = find(steps, isOfKey ? 'key' : 'value');
    if (!stretch) return undefined;
    place ??= lineIndex(text);
    return place(range ? narrowed(text, format, stretch, isOfKey ? steps.at(-1) : value, range) : stretch);
  };
}

/** The part of a literal in which a stretch of its value stands; all of it when it is no string. */
function narrowed(text: string, format: Format, stretch: TextRange, value: unknown, range: TextRange): TextRange {
  const source = text.slice(stretch.start, stretch.end);
  const style = typeof value === 'string' ? format.literalStyle(source) : undefined;
  if (!style) return stretch;
  const { start, end } = withinLiteral(source, value as string, style, range);
  return { start: stretch.start + start, end: stretch.start + end };
}
