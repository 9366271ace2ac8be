import type { Finder, Stretch } from './position.ts';

/** A mistake in a text that can be read all the same. */
export interface TextFault {
  readonly code: string;
  readonly pointer: string;
  readonly message: string;
  readonly stretch: Stretch;
}

/** One way to write a configuration. */
export interface Format {
  /** @throws Error, with a `stretch` where the place is known. */
  parse(text: string): { data: unknown; faults: readonly TextFault[]; hadComments: boolean };
  finder(text: string): Finder;
}
