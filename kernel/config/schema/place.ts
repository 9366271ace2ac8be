import { escapePointer, fieldName } from '../../values/pointer.ts';

/** Where a value stands that is checked. Its pointer is made when something is wrong there, and not before. */
export interface Place {
  /** The place of the object or list that holds it; null for the value that the whole check is of. */
  readonly holder: Place | null;
  /** Key or position in the holder; the pointer of the value that the whole check is of. */
  readonly key: string | number;
}

export function pointerOf({ holder, key }: Place): string {
  if (holder === null) return key as string;
  return `${pointerOf(holder)}/${typeof key === 'number' ? key : escapePointer(key)}`;
}

/** A value as the subject of a message: its field in quotes, or `the document`. */
export function subjectName(pointer: string): string {
  return pointer === '' ? fieldName(pointer) : `'${fieldName(pointer)}'`;
}

/** What follows the name of a key in a message, as ` in 'backend'`; nothing for keys of the document. */
export function inHolder(pointer: string): string {
  return pointer === '' ? '' : ` in '${fieldName(pointer)}'`;
}
