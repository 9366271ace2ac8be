import type { ServiceConfig } from './config.ts';

/** A flag of a command: as Node.js parses it, with what its help says. */
export interface Flag {
  readonly type: 'string' | 'boolean';
  /** One letter. */
  readonly short?: string;
  /** Counted, or listed, each time it is given. */
  readonly multiple?: boolean;
  /** A flag that is on by default is switched off by `--no-` before its name. */
  readonly default?: string | boolean;
  /** What stands for its value in the help. */
  readonly value?: string;
  /** What it does, in a sentence. */
  readonly about: string;
  /** What holds without it, where `default` does not say so. */
  readonly otherwise?: string;
}

export type Flags = Readonly<Record<string, Flag>>;

/** What a flag was given: as often as it may be. */
export type FlagValue = string | boolean | readonly (string | boolean)[] | undefined;

/** What a command was called with, and where it writes. */
export interface CommandCall {
  readonly values: { readonly [flag: string]: FlagValue };
  /** What was given besides flags. */
  readonly positionals: readonly string[];
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a configuration file; null for one with mistakes, which go to standard error. */
  readConfig(file: string): Promise<ServiceConfig | null>;
  /**
   * Serves a configuration, given as what its file would hold, as `run` does, without admin port and history, until the
   * process is told to stop. Mistakes in it go to standard error. @returns the exit code.
   */
  serve(configuration: object): Promise<number>;
}

/**
 * A command of the command line that a plugin brings: `sluice NAME`, with its help. A name of two words, `export postman`,
 * stands beside those of other plugins that begin with the same one.
 */
export interface PluginCommand {
  /** What it needs to be given besides flags, as the usage shows it. */
  readonly usage: string;
  /** One sentence for the list of commands. */
  readonly summary: string;
  /** What else its help says. */
  readonly details?: string;
  readonly flags: Flags;
  /** Other names that it takes, as of the compatible product; help does not list them. */
  readonly aliases?: readonly string[];
  /** @returns the exit code: 0 for done, 2 for a wrong call. */
  run(call: CommandCall): Promise<number>;
}
