import { type DataObject, isObject, setKey } from '#contract';

/** One object over another, key by key; of anything but objects the upper one is taken. */
export function mergeObjects(lower: DataObject, upper: DataObject): DataObject {
  const result: DataObject = {};
  for (const key of Object.keys(lower)) setKey(result, key, lower[key]!);
  for (const key of Object.keys(upper)) {
    const [one, other] = [Object.hasOwn(result, key) ? result[key] : undefined, upper[key]!];
    setKey(result, key, isObject(one) && isObject(other) ? mergeObjects(one, other) : other);
  }
  return result;
}
