import { type AtEndpoint, type DataObject, getKey, isObject, setKey } from '#contract';

/** Combines the parts of an endpoint into one object. */
export type Combine = NonNullable<AtEndpoint['combine']>;

/**
 * The merge functions a configuration can name. Parts are taken in the order the backends are declared in and are never
 * changed. Undefined stands for the gateway's own merge.
 *
 * - `default`: top-level keys; the later value of an equal key replaces the earlier one.
 * - `ordered`: the same, for configurations that want to say that they rely on the order of declaration.
 * - `append`: as `default`, but where an equal top-level key holds an array on both sides, the later members follow the
 *   earlier ones.
 * - `deep`: where an equal key holds an object on both sides, the objects are merged in turn, at any depth; anything
 *   else, arrays included, is replaced by the later value.
 */
export const combiners: { readonly [name in 'default' | 'ordered' | 'append' | 'deep']: Combine | undefined } = {
  default: undefined,
  ordered: undefined,
  append: (objects) => reduce(objects, append),
  deep: (objects) => reduce(objects, deepen),
};

/** Returns a single part unchanged, and `{}` for no parts. */
function reduce(
  objects: readonly DataObject[],
  join: (earlier: DataObject, later: DataObject) => DataObject,
): DataObject {
  return objects.length === 0 ? {} : objects.reduce((merged, object) => join(merged, object));
}

function append(earlier: DataObject, later: DataObject): DataObject {
  const merged = { ...earlier };
  for (const key of Object.keys(later)) {
    const before = getKey(earlier, key);
    const value = later[key]!;
    setKey(merged, key, Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value);
  }
  return merged;
}

function deepen(earlier: DataObject, later: DataObject): DataObject {
  const merged = { ...earlier };
  for (const key of Object.keys(later)) {
    const before = getKey(earlier, key);
    const value = later[key]!;
    setKey(merged, key, isObject(before) && isObject(value) ? deepen(before, value) : value);
  }
  return merged;
}
