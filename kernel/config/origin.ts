import { escapePointer, parsePointer } from './pointer.ts';

/** Remembers how keys were called in the document, so that mistakes are reported where the operator wrote them. */
export interface Origin {
  /** @param parent pointer of the object, by new names. */
  renamed(parent: string, newKey: string, oldKey: string): void;
  /** The pointer by the names of the document. */
  pointer(pointer: string): string;
  /** Every key that has a new name now, by its pointer in the document. */
  renames(): { readonly pointer: string; readonly key: string }[];
}

export function createOrigin(): Origin {
  const oldKeys = new Map<string, string>();
  const original = (pointer: string): string => {
    if (oldKeys.size === 0 || pointer === '') return pointer;
    let renewed = '';
    let written = '';
    for (const step of pointer.slice(1).split('/')) {
      renewed += `/${step}`;
      written += `/${oldKeys.get(renewed) ?? step}`;
    }
    return written;
  };
  return {
    renamed: (parent, newKey, oldKey) => oldKeys.set(`${parent}/${escapePointer(newKey)}`, escapePointer(oldKey)),
    pointer: original,
    renames: () =>
      [...oldKeys.keys()].map((renewed) => ({ pointer: original(renewed), key: parsePointer(renewed).at(-1)! })),
  };
}
