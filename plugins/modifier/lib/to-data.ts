import { type Data, type DataObject, isObject } from '#contract';

/** Converts any value to the data of a reply: an array is returned under `collection`, a scalar under `content`; null becomes an empty object. */
export function toData(value: Data): DataObject {
  if (isObject(value)) return value;
  if (value === null) return {};
  return Array.isArray(value) ? { collection: value } : { content: value };
}
