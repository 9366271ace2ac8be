import type { Catalogue } from '#contract';

/** A command of the command line. */
export interface Command {
  /** Flags and arguments, as the usage shows them. */
  readonly usage: string;
  /** One sentence for the list of commands. */
  readonly summary: string;
  /** @returns the exit code. @throws UsageError for flags it does not know. */
  run(args: string[], catalogue: Catalogue): Promise<number>;
}

/** The command was called in a way it does not understand. */
export class UsageError extends Error {}
