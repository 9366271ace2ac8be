import { type DataObject, setKey } from './data.ts';

/**
 * One object out of several, top-level keys only: a key stands where it first appeared and has the value of the last
 * part that gave it. No part is changed; a single part is handed back itself, and no part at all gives `{}`.
 */
export function mergeShallow(sections: readonly DataObject[]): DataObject {
  switch (sections.length) {
    case 0:
      return {};
    case 1:
      return sections[0]!;
    case 2:
      return { ...sections[0], ...sections[1] };
    case 3:
      return { ...sections[0], ...sections[1], ...sections[2] };
    default:
      return mergeMany(sections);
  }
}

/** Spreading copies what was merged so far once more for each part, so it is only the faster way for few. */
function mergeMany(sections: readonly DataObject[]): DataObject {
  const merged: DataObject = { ...sections[0] };
  for (let at = 1; at < sections.length; at++) {
    const section = sections[at]!;
    for (const key of Object.keys(section)) setKey(merged, key, section[key]!);
  }
  return merged;
}
