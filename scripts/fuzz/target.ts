import type fc from 'fast-check';

/** Code to test with random inputs, and the law that must hold. An input is plain JSON, so that one that fails can be saved as a file. */
export interface Target<I = unknown> {
  /** Name, as in `npm run fuzz -- NAME`. */
  readonly name: string;
  /** The property that must hold for every input, in one sentence. */
  readonly law: string;
  /** Maximum CPU time of the main thread for one input, in milliseconds. */
  readonly boundMs: number;
  /** The code under test: files and folders, as paths from the root of the repository. */
  readonly rooms: readonly string[];
  /** True when inputs that reach new blocks of the code under test are changed further. Default: each input is generated anew. */
  readonly isGuided?: boolean;
  readonly inputs: fc.Arbitrary<I>;
  /** Prepares a run. */
  open(): Promise<OpenTarget<I>>;
}

export interface OpenTarget<I = unknown> {
  /** @throws Error when the law is violated. */
  accept(input: I): void | Promise<void>;
  close(): Promise<void>;
}

/** Ensures that generator and target use the same type of inputs. */
export function defineTarget<I>(target: Target<I>): Target {
  return target as Target;
}
