import { type Data, type DataObject, getKey } from '#contract';

/** Returns the revocable elements of a token: one `<claim>-<value>` for each value of the given claims. */
export function elementsOf(claims: Readonly<DataObject>, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const value = getKey(claims, name);
    const values = Array.isArray(value) ? value.filter((member) => typeof member === 'string') : [value];
    return values.flatMap((one) => {
      const text = textOf(one);
      return text === null ? [] : [`${name}-${text}`];
    });
  });
}

/** Formats a text, number (in decimal form) or boolean; null for any other value. */
function textOf(value: Data | undefined): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value).toString() : String(value);
  return typeof value === 'object' && JSON.isRawJSON(value) ? value.rawJSON : null;
}
