import { escapePointer } from './pointer.ts';

/** Remembers how keys were called in the document, so that mistakes are reported where the operator wrote them. */
export interface Origin {
  /** @param parent pointer of the object, by new names. */
  renamed(parent: string, newKey: string, oldKey: string): void;
  /** The pointer by the names of the document. */
  pointer(pointer: string): string;
}

export function createOrigin(): Origin {
  const oldKeys = new Map<string, string>();
  return {
    renamed: (parent, newKey, oldKey) => oldKeys.set(`${parent}/${escapePointer(newKey)}`, escapePointer(oldKey)),
    pointer(pointer) {
      if (oldKeys.size === 0 || pointer === '') return pointer;
      let renewed = '';
      let original = '';
      for (const step of pointer.slice(1).split('/')) {
        renewed += `/${step}`;
        original += `/${oldKeys.get(renewed) ?? step}`;
      }
      return original;
    },
  };
}
