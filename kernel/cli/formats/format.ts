import { relative, resolve, sep } from 'node:path';
import type { Document, IsSecret, Issue } from '../../config/index.ts';

/** Findings in one configuration file, sorted by position. */
export interface Findings {
  /** Path of the checked file, as the user gave it. */
  readonly file: string;
  /** Content of the file; undefined when it could not be read. */
  readonly text: string | undefined;
  /** The parsed configuration; null when the text cannot be parsed. */
  readonly document: Document | null;
  readonly errors: readonly Issue[];
  readonly warnings: readonly Issue[];
  /** Decides which values are masked. Default: by names and texts. */
  readonly isSecret?: IsSecret | undefined;
}

/** An output format for findings. */
export interface Format {
  /** Whether people read the format. Such findings are printed on standard error, and `check` reports its progress. */
  readonly isForPeople: boolean;
  print(findings: Findings, isColoured: boolean): string;
}

/** Returns the path of a file relative to the working directory, with slashes; undefined for a file outside it. */
export function pathFromHere(file: string): string | undefined {
  const steps = relative(process.cwd(), resolve(file)).split(sep);
  return steps[0] === '..' ? undefined : steps.join('/');
}
