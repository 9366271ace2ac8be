import type { Catalogue } from '#contract';
import type { StartAdmin } from '../index.ts';

/** A command of the command line. */
export interface Command {
  /** Flags and arguments, as the usage shows them. */
  readonly usage: string;
  /** One sentence for the list of commands. */
  readonly summary: string;
  /**
   * @param startAdmin opens the admin port of a gateway; none is opened without it.
   * @returns the exit code. @throws UsageError for flags it does not know.
   */
  run(args: string[], catalogue: Catalogue, startAdmin?: StartAdmin): Promise<number>;
}

/** The command was called in a way it does not understand. */
export class UsageError extends Error {}
