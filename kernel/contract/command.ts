import type { DataObject } from '../values/data.ts';
import type { ServiceConfig } from './config.ts';

/** A command-line flag: the options of Node.js's parser, and its help. */
export interface Flag {
  readonly type: 'string' | 'boolean';
  /** Short form of the flag, a single letter. */
  readonly short?: string;
  /** The flag can be repeated; its values are collected or counted. */
  readonly multiple?: boolean;
  /** Flags that are on by default are disabled by the prefix `--no-`. */
  readonly default?: string | boolean;
  /** Placeholder of the flag's value in the help. */
  readonly value?: string;
  /** Description in one sentence. */
  readonly about: string;
  /** Behavior without the flag, unless `default` describes it. */
  readonly otherwise?: string;
}

export type Flags = Readonly<Record<string, Flag>>;

/** Value of a flag, or all values of a repeatable one. */
export type FlagValue = string | boolean | readonly (string | boolean)[] | undefined;

/** Responses that clients of an endpoint receive for a method, as `sluice contracts infer` writes them. */
export interface EndpointContract {
  readonly method: string;
  /** Path of the endpoint. */
  readonly endpoint: string;
  readonly responses: readonly {
    readonly status: number;
    /** Media types without parameters; empty for responses without a body. */
    readonly contentTypes: readonly string[];
    /** JSON Schema of JSON bodies; null without any. */
    readonly schema: DataObject | null;
  }[];
}

/** Arguments and output streams of a command. */
export interface CommandCall {
  readonly values: { readonly [flag: string]: FlagValue };
  /** Arguments other than flags. */
  readonly positionals: readonly string[];
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a configuration file. @returns null for an invalid one, whose errors are written to standard error. */
  readConfig(file: string): Promise<ServiceConfig | null>;
  /** Reads a folder of contracts. @returns null for an invalid one, whose errors are written to standard error. */
  readContracts(folder: string): Promise<readonly EndpointContract[] | null>;
  /**
   * Serves a configuration, given as the object its file would contain, like `run` but without admin port and history,
   * until the process is stopped. Errors are written to standard error. @returns the exit code.
   */
  serve(configuration: object): Promise<number>;
}

/**
 * A command provided by a plugin: `sluice NAME`. Names of two words, such as `export postman`, are listed next to those
 * of other plugins with the same first word.
 */
export interface PluginCommand {
  /** Required arguments, as shown in the usage line. */
  readonly usage: string;
  /** One sentence for the list of commands. */
  readonly summary: string;
  /** Further text of the help. */
  readonly details?: string;
  readonly flags: Flags;
  /** Alternative names, such as those of KrakenD; not listed in the help. */
  readonly aliases?: readonly string[];
  /** @returns the exit code: 0 for success, 2 for a usage error. */
  run(call: CommandCall): Promise<number>;
}
