/** What every plain object seems to have without having it. */
export const PROTOTYPE_NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'] as const;

/** An object with one key, also where a literal would mean the prototype. */
export function holding<T>(key: string, value: T): Record<string, T> {
  return Object.fromEntries([[key, value]]);
}
