import type { Place } from './place.ts';
import type { Problem } from './problem.ts';

/** A mistake in a checked value. */
export interface Finding extends Problem {
  /** The key that is missing, and the object it is missing in. */
  readonly missing?: { readonly key: string; readonly holder: string };
}

/**
 * Checks a value and gives it back with defaults filled in, durations as milliseconds and comment keys gone; objects and
 * lists are changed in place. What is wrong is added to the findings; the value is then not to be used.
 */
export type Check = (value: unknown, place: Place, findings: Finding[]) => unknown;
