import { parseSegment } from '../config/index.ts';

/**
 * A declared path as find-my-way has it, which reads its variables as `readSegment` does, in a time that grows with the
 * length of the segment only.
 *
 * @param nameOf the name the tree has for a variable.
 */
export function triePath(pattern: string, nameOf: (name: string) => string): string {
  return pattern
    .split('/')
    .map((segment) => {
      const { texts, names } = parseSegment(segment);
      return names.reduce((path, name, at) => {
        const behind = texts[at + 1]!;
        return `${path}:${nameOf(name)}${valuePattern(behind, at === names.length - 1)}${behind}`;
      }, texts[0]!);
    })
    .join('/');
}

/** The tree's own variables also match nothing at all, and those inside a word more than this. */
function valuePattern(behind: string, isLast: boolean): string {
  return isLast ? '([^]+)' : `((?:(?!${escaped(behind)})[^])+)`;
}

function escaped(text: string): string {
  return Array.from({ length: text.length }, (_none, at) => {
    return `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}

/**
 * Sorts paths so that the tree, which tries what was declared first, tries what fixes more of a segment first:
 * `/{name}.tar.gz`, `/{name}.gz`, `/{name}`.
 */
export function moreFixedFirst(one: string, other: string): number {
  const [these, those] = [one, other].map((path) => path.split('/').map(fixedLength)) as [number[], number[]];
  for (let at = 0; at < Math.min(these.length, those.length); at++) {
    if (these[at] !== those[at]) return those[at]! - these[at]!;
  }
  return 0;
}

/** How much of a segment is no variable. */
export function fixedLength(segment: string): number {
  return parseSegment(segment).texts.join('').length;
}
