import { type DataObject, isObject, setKey } from '#contract';

/** Merges one object over another, key by key; values other than objects are replaced. */
export function mergeObjects(lower: DataObject, upper: DataObject): DataObject {
  const result: DataObject = {};
  for (const key of Object.keys(lower)) setKey(result, key, lower[key]!);
  for (const key of Object.keys(upper)) {
    const [one, other] = [Object.hasOwn(result, key) ? result[key] : undefined, upper[key]!];
    setKey(result, key, isObject(one) && isObject(other) ? mergeObjects(one, other) : other);
  }
  return result;
}
