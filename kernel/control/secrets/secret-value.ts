import { type Data, type DataObject, isObject, printJson, type StoredSecret } from '#contract';
import type { SecretReference } from '../../config/index.ts';

/** Maximum length of one value, in characters. */
export const MAX_VALUE_LENGTH = 65_536;

/**
 * The value of a reference in a fetched secret. A key selects a field, also of a text in JSON.
 * @throws Error with the reason; without parts of the secret.
 */
export function selectValue({ key }: Pick<SecretReference, 'key'>, { content }: Pick<StoredSecret, 'content'>): string {
  const value = textOf(key === null ? content : fieldOf(content, key), key);
  if (value.length > MAX_VALUE_LENGTH) throw new Error(`the value is longer than ${MAX_VALUE_LENGTH} characters`);
  return value;
}

function fieldOf(content: StoredSecret['content'], key: string): Data {
  const fields = typeof content === 'string' ? parsed(content) : content;
  if (!isObject(fields)) throw new Error(`it has no fields: remove "#${key}"`);
  if (!Object.hasOwn(fields, key)) throw new Error(`it has no field "${key}"`);
  return fields[key]!;
}

function parsed(text: string): DataObject | null {
  try {
    return JSON.parse(text) as DataObject;
  } catch {
    return null;
  }
}

function textOf(value: Data, key: string | null): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) throw new Error('the field is null');
  if (key === null) throw new Error('it has several fields: add "#" and the name of one');
  return printJson(value);
}
