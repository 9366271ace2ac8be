import { type Document, parentPointer } from '../config/index.ts';

/** Position in the configuration. */
export interface FilePosition {
  /** JSON pointer in the document; when the value itself is not written there, the pointer of its nearest written ancestor. */
  readonly pointer: string;
  readonly file?: string;
  /** Line, counted from 1. */
  readonly line?: number;
  /** Column, counted from 1, in UTF-16 units. */
  readonly column?: number;
}

/** Finds the position of a pointer. */
export type FindPosition = (pointer: string) => FilePosition;

/** For a configuration that has no text, so that only pointers are known. */
export const pointerOnly: FindPosition = (pointer) => ({ pointer });

/** Finds positions in a document, at the key if there is one. */
export function positionsIn(document: Document): FindPosition {
  return (pointer) => {
    for (let at = pointer; ; at = parentPointer(at)) {
      const match = document.locate(at, 'key');
      if (match) return { pointer: at, file: match.file ?? document.file, line: match.line, column: match.column };
      if (at === '') return { pointer: at, file: document.file };
    }
  };
}
