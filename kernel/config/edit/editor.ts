import type { Data } from '#contract';
import type { TextRange } from '../syntax/position.ts';

/** Knows where the literals of one text stand and how its format writes others in their place. */
export interface Editor {
  /** Every literal of the key at the end of a path; none when it is written nowhere. */
  keys(steps: readonly string[]): readonly TextRange[];
  /** The literal of a value; undefined when the value is not one stretch of the text. */
  value(steps: readonly string[]): TextRange | undefined;
  /** A key, quoted like the literal it replaces. */
  printKey(name: string, literal: string): string;
  /** A value in the layout of the one it replaces; undefined when the format has no literal for it. */
  printValue(value: Data, place: TextRange): string | undefined;
  /** A key with its value, and what parts it from the key it is written in front of. */
  printBefore(name: string, value: Data, offset: number): string;
}

/** @param text a text of the format, known to be valid. */
export type CreateEditor = (text: string) => Editor;
