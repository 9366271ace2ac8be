import { joinPointer } from '../../values/pointer.ts';
import type { TextRange } from './position.ts';

/** Levels below the document; nested deeper is no configuration but an attack on the stack. */
export const MAX_DEPTH = 200;

/** True when something is nested too deeply. */
export function isTooDeep(data: object): boolean {
  return isDeeper(data, MAX_DEPTH);
}

/** @param levels that may stand below: the recursion goes no deeper. */
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

/** The pointer of the first value that is nested too deeply, in data where there is one. */
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

const stringOrBracket = /"(?:[^"\\\n]|\\.)*"|[[\]{}]/g;

/** The bracket that goes too deep in a text that no parser gets through; undefined where none does. */
export function tooDeepBracket(text: string): TextRange | undefined {
  let depth = 0;
  for (const { 0: match, index } of text.matchAll(stringOrBracket)) {
    if (match === '[' || match === '{') depth++;
    else if (match === ']' || match === '}') depth--;
    if (depth > MAX_DEPTH + 1) return { start: index, end: index + 1 };
  }
  return undefined;
}
