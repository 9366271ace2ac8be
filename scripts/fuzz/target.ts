import type fc from 'fast-check';

/** Something that is given random inputs. An input is plain JSON, so that a find can be kept as a file. */
export interface Target<I = unknown> {
  /** As in `npm run fuzz -- NAME`. */
  readonly name: string;
  /** The property that must hold for every input, in one sentence. */
  readonly law: string;
  /** Processor time of the main thread that one input may take, in milliseconds. */
  readonly boundMs: number;
  readonly inputs: fc.Arbitrary<I>;
  /** Prepares a run. */
  open(): Promise<OpenTarget<I>>;
}

export interface OpenTarget<I = unknown> {
  /** @throws Error where the law does not hold. */
  accept(input: I): void | Promise<void>;
  close(): Promise<void>;
}

/** Keeps the type of the inputs between generator and target. */
export function defineTarget<I>(target: Target<I>): Target {
  return target as Target;
}
