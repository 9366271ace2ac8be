import { type DataObject, setKey } from './data.ts';

/**
 * One object out of several, top-level keys only: a key stands where it first appeared and has the value of the last
 * part that gave it. No part is changed; a single part is handed back itself, and no part at all gives `{}`.
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

/** Spreading copies what was merged so far once more for each part, so it is only the faster way for few. */
function mergeMany(objects: readonly DataObject[]): DataObject {
  const merged: DataObject = { ...objects[0] };
  for (let at = 1; at < objects.length; at++) {
    const object = objects[at]!;
    for (const key of Object.keys(object)) setKey(merged, key, object[key]!);
  }
  return merged;
}
