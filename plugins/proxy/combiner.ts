import { type AtEndpoint, type DataObject, getKey, isObject, setKey } from '#contract';

/** Combines the parts of an endpoint into one object. */
export type Combine = NonNullable<AtEndpoint['combine']>;

/**
 * Merge functions by the name used in configurations. Parts are merged in the order in which their backends are declared
 * and are never modified. Undefined selects the gateway's own merge.
 *
 * - `default`: top-level keys; the later value of an equal key replaces the earlier one.
 * - `ordered`: the same, for configurations that depend on the declaration order.
 * - `append`: like `default`, but arrays under equal top-level keys are concatenated.
 * - `deep`: objects under equal keys are merged at any depth; all other values, including arrays, are replaced by the
 *   later value.
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
