import { type DataObject, setKey } from './data.ts';

/**
 * One object out of several, top-level keys only: a key stands where it first appeared and has the value of the last
 * part that gave it. No part is changed; a single part is handed back itself, and no part at all gives `{}`.
 */
export function mergeShallow(parts: readonly DataObject[]): DataObject {
  switch (parts.length) {
    case 0:
      return {};
    case 1:
      return parts[0]!;
    case 2:
      return { ...parts[0], ...parts[1] };
    case 3:
      return { ...parts[0], ...parts[1], ...parts[2] };
    default:
      return mergeMany(parts);
  }
}

/** Spreading copies what was merged so far once more for each part, so it is only the faster way for few. */
function mergeMany(parts: readonly DataObject[]): DataObject {
  const merged: DataObject = { ...parts[0] };
  for (let at = 1; at < parts.length; at++) {
    const part = parts[at]!;
    for (const key of Object.keys(part)) setKey(merged, key, part[key]!);
  }
  return merged;
}
