import { type Data, type DataObject, isObject } from '#contract';

/** Any value as the data of a reply: an array under `collection`, a scalar under `content`; null is an empty object. */
export function toData(value: Data): DataObject {
  if (isObject(value)) return value;
  if (value === null) return {};
  return Array.isArray(value) ? { collection: value } : { content: value };
}
