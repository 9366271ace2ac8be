import { parseSegment } from '../../config/index.ts';

/**
 * Converts a declared path to find-my-way syntax. Variables match as in `readSegment`, in time linear in the length of
 * the segment.
 *
 * @param nameOf maps a variable to its name in the tree.
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

/**
 * Pattern of a variable's value. Without it, the tree's variables also match empty values, and those inside a segment
 * match too much.
 */
function valuePattern(behind: string, isLast: boolean): string {
  return isLast ? '([^]+)' : `((?:(?!${escaped(behind)})[^])+)`;
}

function escaped(text: string): string {
  return Array.from({ length: text.length }, (_none, at) => {
    return `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}

/**
 * Sort order of paths for the tree, which tries them in insertion order: paths with more fixed text in a segment come
 * first: `/{name}.tar.gz`, `/{name}.gz`, `/{name}`.
 */
export function moreFixedFirst(one: string, other: string): number {
  const [these, those] = [one, other].map((path) => path.split('/').map(fixedLength)) as [number[], number[]];
  for (let at = 0; at < Math.min(these.length, those.length); at++) {
    if (these[at] !== those[at]) return those[at]! - these[at]!;
  }
  return 0;
}

/** Number of characters of a segment outside variables. */
export function fixedLength(segment: string): number {
  return parseSegment(segment).texts.join('').length;
}
