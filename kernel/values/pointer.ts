/** Escapes one key for a JSON pointer. */
export function escapePointer(key: string): string {
  return key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}

/** A JSON pointer extended by keys and positions. @example joinPointer('/endpoints', 3, 'backend') */
export function joinPointer(base: string, ...steps: readonly (string | number)[]): string {
  let pointer = base;
  for (const step of steps) pointer += '/' + (typeof step === 'number' ? step : escapePointer(step));
  return pointer;
}
