import { type Document, parentPointer } from '../config/index.ts';

/** Where something stands in the configuration. */
export interface FilePosition {
  /** JSON pointer in the document; of the nearest thing that is written when the thing itself is not. */
  readonly pointer: string;
  readonly file?: string;
  /** Counts from 1. */
  readonly line?: number;
  /** Counts from 1, in UTF-16 units. */
  readonly column?: number;
}

/** Finds the place of what a pointer leads to. */
export type FindPosition = (pointer: string) => FilePosition;

/** For a configuration without a text: the pointer is all there is. */
export const pointerOnly: FindPosition = (pointer) => ({ pointer });

/** Places in a document, at the key where there is one. */
export function positionsIn(document: Document): FindPosition {
  return (pointer) => {
    for (let at = pointer; ; at = parentPointer(at)) {
      const match = document.locate(at, 'key');
      if (match) return { pointer: at, file: match.file ?? document.file, line: match.line, column: match.column };
      if (at === '') return { pointer: at, file: document.file };
    }
  };
}
