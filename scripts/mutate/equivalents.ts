import { readFileSync } from 'node:fs';
import type { Tried } from './collector.ts';

/** A fault that changes nothing anyone could notice. */
export interface Equivalent {
  /** From the top of the repository. */
  readonly file: string;
  /** The line as it stands, without the space around it; a change of it is to be thought over again. */
  readonly line: string;
  /** What is put in. */
  readonly replacement: string;
  readonly reason: string;
}

/** Where they are named. */
export const EQUIVALENTS = 'test/equivalent-faults.json';

export function readEquivalents(): Equivalent[] {
  return JSON.parse(readFileSync(EQUIVALENTS, 'utf8'));
}

/** Tells which faults are named, by their line and what is put in. */
export function isNamedBy(equivalents: readonly Equivalent[]): (fault: Tried) => boolean {
  return ({ fileName, line, replacement }) =>
    equivalents.some((one) => one.file === fileName && one.line === line && one.replacement === replacement);
}
