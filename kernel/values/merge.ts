import { type DataObject, setKey } from './data.ts';

/**
 * Merges objects by their top-level keys: a key keeps its first position and has its last value. Modifies no object; a
 * single one is returned itself, and an empty list gives `{}`.
 */
export function mergeShallow(objects: readonly DataObject[]): DataObject {
  switch (objects.length) {
    case 0:
      return {};
    case 1:
      return objects[0]!;
    case 2:
      return { ...objects[0], ...objects[1] };
    case 3:
      return { ...objects[0], ...objects[1], ...objects[2] };
    default:
      return mergeMany(objects);
  }
}

/** Spreading copies the merged result for every object, so it is faster only for few objects. */
function mergeMany(objects: readonly DataObject[]): DataObject {
  const merged: DataObject = { ...objects[0] };
  for (let at = 1; at < objects.length; at++) {
    const object = objects[at]!;
    for (const key of Object.keys(object)) setKey(merged, key, object[key]!);
  }
  return merged;
}
