import { readFileSync } from 'node:fs';
import type { Tried } from './collector.ts';

/** A fault without observable effect. */
export interface Equivalent {
  /** File path, relative to the repository root. */
  readonly file: string;
  /** Current source line, without surrounding space; when it changes, the fault must be reviewed again. */
  readonly line: string;
  /** Text that replaces a part of the line. */
  readonly replacement: string;
  readonly reason: string;
}

/** File that lists the faults without observable effect. */
export const EQUIVALENTS = 'test/equivalent-faults.json';

export function readEquivalents(): Equivalent[] {
  return JSON.parse(readFileSync(EQUIVALENTS, 'utf8'));
}

/** Tells whether a fault is listed, by its line and replacement. */
export function isNamedBy(equivalents: readonly Equivalent[]): (fault: Tried) => boolean {
  return ({ fileName, line, replacement }) =>
    equivalents.some((one) => one.file === fileName && one.line === line && one.replacement === replacement);
}
