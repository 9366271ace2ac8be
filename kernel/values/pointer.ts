/** Escapes one key for a JSON pointer. */
export function escapePointer(key: string): string {
  return key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}

/** Appends keys and positions to a JSON pointer. @example joinPointer('/endpoints', 3, 'backend') */
export function joinPointer(base: string, ...steps: readonly (string | number)[]): string {
  let pointer = base;
  for (const step of steps) pointer += '/' + (typeof step === 'number' ? step : escapePointer(step));
  return pointer;
}

/** The unescaped keys of a JSON pointer; none for the empty pointer. */
export function parsePointer(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Pointer of the value that contains this one; empty for the root. */
export function parentPointer(pointer: string): string {
  return pointer.slice(0, Math.max(pointer.lastIndexOf('/'), 0));
}

/** Value of a document at a path of keys; undefined if it does not exist. */
export function valueAt(document: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, step)
        ? (value as Record<string, unknown>)[step]
        : undefined,
    document,
  );
}

/** User-facing name of the field at a pointer: `timeout`, `host[1]`; `the document` for the root. */
export function fieldName(pointer: string): string {
  const steps = parsePointer(pointer);
  let positions = '';
  while (steps.length > 0 && /^\d+$/.test(steps.at(-1)!)) positions = `[${steps.pop()}]${positions}`;
  return steps.length > 0 ? steps.at(-1)! + positions : positions || 'the document';
}
