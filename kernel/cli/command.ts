import type { EventEmitter } from 'node:events';
import type { Catalogue, Flags, LogSinks } from '#contract';
import type { StartAdmin } from '../index.ts';
import type { Terminal } from './terminal.ts';

/** Environment of a command. Of the process, a command uses only this and the file system. */
export interface CommandContext extends Terminal {
  readonly catalogue: Catalogue;
  /** Folder with plugins, in addition to those of the release and of the configuration. */
  readonly plugins?: string | undefined;
  /**
   * Destination for the logs of a gateway started by a command. Default: standard output and standard error of the
   * process.
   */
  readonly sinks?: LogSinks | undefined;
  /** Opens the admin port of a gateway; without it, none is opened. */
  readonly startAdmin?: StartAdmin | undefined;
  /** Emits SIGINT, SIGTERM and SIGHUP by name. */
  readonly signals: Pick<EventEmitter, 'on' | 'once' | 'off'>;
  /** Exits immediately. */
  exit(code: number): void;
  /** Path of this program, to start it again. */
  readonly program: string;
}

/** A command of the command line interface. */
export interface Command {
  /** Arguments, as shown in the usage line. */
  readonly usage: string;
  /** One sentence for the list of commands. */
  readonly summary: string;
  /** Additional help: exit codes other than 0 for success and 2 for a usage error, and how to use the result. */
  readonly details?: string;
  readonly flags: Flags;
  /** Subcommands by name. */
  readonly commands?: Readonly<Record<string, Command>>;
  /** Set for a command that exists only for `commands`, of several plugins: lists show these instead. */
  readonly isGroup?: true;
  /** Set for an alias of a command that lists already show. */
  readonly isAlias?: true;
  /** Environment variables that it reads. */
  readonly variables?: Variables;
  /** @returns the exit code. @throws UsageError for unknown flags. */
  run(args: string[], context: CommandContext): Promise<number>;
}

/** Environment variables that a command reads: name and description. */
export type Variables = Readonly<Record<string, string>>;

/** Variables of every command that reads a configuration. */
export const configVariables: Variables = {
  'GATEWAY_<FIELD>': 'Replaces a plain value at the root of the file, if it is there: GATEWAY_PORT, GATEWAY_TIMEOUT.',
  'KRAKEND_<FIELD>': 'Fallback for GATEWAY_<FIELD>.',
  FC_ENABLE: 'Not empty: the file is a template, in the language of Go with the functions of Sprig.',
  FC_SETTINGS: 'A directory of JSON files: each is a variable of the template.',
  FC_TEMPLATES: 'A directory of *.tmpl files that the template calls.',
  FC_PARTIALS: 'A directory of texts that the template includes.',
  FC_OUT: 'File to write the rendered configuration to, for inspection.',
  FC_CONFIG: 'File with template settings. Default: flexible_config.json, if it exists.',
  FC_DEBUG: 'true: print the variables of the template.',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what is written in a configuration
  GATEWAY_ENV_INTERPOLATION: '1: ${NAME}, ${NAME:-default}, ${NAME:?message} and ${file:/path} are filled in.',
};

/** Variables of every command that authenticates to an admin port. */
export const tokenVariables: Variables = {
  GATEWAY_ADMIN_TOKEN: 'Token of the admin port, unless --admin-token-file is given.',
  GATEWAY_STATE_DIR: 'State directory, unless --state-dir is given.',
  STATE_DIRECTORY: 'State directory set by systemd, unless GATEWAY_STATE_DIR is set.',
  XDG_STATE_HOME: 'Without any of them, the state directory is $XDG_STATE_HOME/sluice.',
};

/** Variables of every command that opens an admin port, or connects to one. */
export const adminVariables: Variables = {
  GATEWAY_ADMIN_LISTEN: 'Address of the admin port, unless --admin is given.',
  ...tokenVariables,
};

/** Variables of every command with output for people. */
export const colourVariables: Variables = { NO_COLOR: 'No colours, also on a terminal.' };

export const allVariables: Variables = { ...configVariables, ...adminVariables, ...colourVariables };
