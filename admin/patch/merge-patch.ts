import { type Data, type DataObject, getKey, isObject, setKey } from '#contract';

/** Applies a JSON merge patch (RFC 7396). The arguments are not modified; `__proto__` is an ordinary key. */
export function mergePatch(target: Data | undefined, patch: Data): Data {
  if (!isObject(patch)) return patch;
  const result: DataObject = {};
  const base = isObject(target) ? target : {};
  for (const key of Object.keys(base)) if (getKey(patch, key) !== null) setKey(result, key, base[key]!);
  for (const key of Object.keys(patch)) {
    const value = patch[key]!;
    if (value !== null) setKey(result, key, mergePatch(getKey(base, key), value));
  }
  return result;
}
