import type { Data } from '#contract';

/** Type that the text of a placeholder is converted to. */
export type TextType = 'int' | 'bool';

const TYPED = /^(\$\{[^{}]*\})!(int|bool)$/;

/** Splits a value that consists of one placeholder followed by `!int` or `!bool`; null for any other text. */
export function typedPlaceholder(text: string): { readonly placeholder: string; readonly type: TextType } | null {
  const [, placeholder, type] = TYPED.exec(text) ?? [];
  return placeholder === undefined ? null : { placeholder, type: type as TextType };
}

/** Converts a text to a number or a boolean. @throws Error with a reason that does not contain the text. */
export function convertText(text: string, type: TextType): Data {
  if (type === 'bool') {
    if (/^(?:1|t|true)$/i.test(text)) return true;
    if (/^(?:0|f|false)$/i.test(text)) return false;
    throw new Error('it cannot be read as a boolean');
  }
  if (!/^-?\d+$/.test(text)) throw new Error('it cannot be read as an integer');
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(text);
}
