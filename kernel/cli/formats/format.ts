import { relative, resolve, sep } from 'node:path';
import type { Document, IsSecret, Issue } from '../../config/index.ts';

/** What was found in one configuration file, by position. */
export interface Findings {
  /** The path as it was given. */
  readonly file: string;
  /** Undefined when the file could not be read. */
  readonly text: string | undefined;
  /** Null when the text is no configuration. */
  readonly document: Document | null;
  readonly errors: readonly Issue[];
  readonly warnings: readonly Issue[];
  /** Which values are masked. Default: by names and texts. */
  readonly isSecret?: IsSecret | undefined;
}

/** A way to print findings. */
export interface Format {
  /** True when it is read by people: it goes to standard error, and `check` tells what it does. */
  readonly isForPeople: boolean;
  print(findings: Findings, isColoured: boolean): string;
}

/** The path of a file from the working directory, with slashes; undefined for a file outside of it. */
export function pathFromHere(file: string): string | undefined {
  const steps = relative(process.cwd(), resolve(file)).split(sep);
  return steps[0] === '..' ? undefined : steps.join('/');
}
