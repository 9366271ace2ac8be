import { type Data, isObject } from './data.ts';

/**
 * Text form of a decoded value in a path, a parameter or a header. Strings are unchanged, exact numbers keep their
 * digits, `null` is `<nil>`, the items of an array are joined by commas (an empty array is the empty text), an object
 * is compact JSON.
 */
export function textOf(value: Data): string {
  if (typeof value === 'string') return value;
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return value.map(textOf).join(',');
  if (isObject(value)) return JSON.stringify(value);
  return typeof value === 'object' ? value.rawJSON : String(value);
}

/** Pattern that matches these words in any letter case, without flags. */
export function anyCase(words: readonly string[]): string {
  const spelled = words.map((word) =>
    word.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`),
  );
  return `^(${spelled.join('|')})$`;
}
