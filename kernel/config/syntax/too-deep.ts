import { joinPointer } from '../../values/pointer.ts';
import type { TextRange } from './position.ts';

/** Maximum nesting depth below the document; anything deeper is an attack on the stack, not a configuration. */
export const MAX_DEPTH = 200;

/** True if any value is nested too deeply. */
export function isTooDeep(data: object): boolean {
  return isDeeper(data, MAX_DEPTH);
}

/** @param levels maximum depth below, which also limits the recursion. */
function isDeeper(value: object, levels: number): boolean {
  if (Array.isArray(value)) {
    for (const inner of value) if (isNested(inner) && (levels === 0 || isDeeper(inner, levels - 1))) return true;
    return false;
  }
  for (const key in value) {
    const inner = (value as Readonly<Record<string, unknown>>)[key];
    if (isNested(inner) && (levels === 0 || isDeeper(inner, levels - 1))) return true;
  }
  return false;
}

/** Pointer of the first value that is nested too deeply; the data must contain one. */
export function tooDeepIn(data: object): string {
  let level: (readonly [value: object, pointer: string])[] = [[data, '']];
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    level = level.flatMap(([value, pointer]) =>
      Object.entries(value).flatMap(([key, inner]) =>
        isNested(inner) ? [[inner, joinPointer(pointer, key)] as const] : [],
      ),
    );
  }
  return level[0]![1];
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

// A string without a closing quote ends with its line: searching the whole text for the quote, from each such string,
// would take quadratic time.
const stringOrBracket = /"(?:[^"\\\n]|\\.)*"?|[[\]{}]/g;

/** The bracket that exceeds the maximum depth, in a text that cannot be parsed; undefined if the depth is not exceeded. */
export function tooDeepBracket(text: string): TextRange | undefined {
  let depth = 0;
  for (const { 0: match, index } of text.matchAll(stringOrBracket)) {
    if (match === '[' || match === '{') depth++;
    else if (match === ']' || match === '}') depth--;
    if (depth > MAX_DEPTH + 1) return { start: index, end: index + 1 };
  }
  return undefined;
}
