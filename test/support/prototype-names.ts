/** Names of members that every plain object inherits. */
export const PROTOTYPE_NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'] as const;

/** An object with one key, even if a literal would set the prototype. */
export function holding<T>(key: string, value: T): Record<string, T> {
  return Object.fromEntries([[key, value]]);
}
