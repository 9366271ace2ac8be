export { joinPointer } from '#contract';
export { escapePointer } from '../contract/internal.ts';

/** The keys of a JSON pointer, unescaped; the empty pointer has none. */
export function parsePointer(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The pointer of the value that holds this one; empty for the root. */
export function parentPointer(pointer: string): string {
  return pointer.slice(0, Math.max(pointer.lastIndexOf('/'), 0));
}

/** What stands in a document behind these keys; undefined when nothing does. */
export function valueAt(document: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, step)
        ? (value as Record<string, unknown>)[step]
        : undefined,
    document,
  );
}

/** The field a pointer leads to, in an operator's words: `timeout`, `host[1]`; `the document` for the root. */
export function fieldName(pointer: string): string {
  const steps = parsePointer(pointer);
  let positions = '';
  while (steps.length > 0 && /^\d+$/.test(steps.at(-1)!)) positions = `[${steps.pop()}]${positions}`;
  return steps.length > 0 ? steps.at(-1)! + positions : positions || 'the document';
}
