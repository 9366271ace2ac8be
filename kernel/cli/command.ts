import type { EventEmitter } from 'node:events';
import type { Catalogue, Flags, LogSinks } from '#contract';
import type { StartAdmin } from '../index.ts';
import type { Terminal } from './terminal.ts';

/** What a command works with. It uses nothing else of the process but its files. */
export interface CommandContext extends Terminal {
  readonly catalogue: Catalogue;
  /** A folder with plugins, besides those of the release and of the configuration. */
  readonly plugins?: string | undefined;
  /** Where a gateway that a command runs writes its logs. Default: standard output and standard error of the process. */
  readonly sinks?: LogSinks | undefined;
  /** Opens the admin port of a gateway; none is opened without it. */
  readonly startAdmin?: StartAdmin | undefined;
  /** Emits SIGINT, SIGTERM and SIGHUP by their names. */
  readonly signals: Pick<EventEmitter, 'on' | 'once' | 'off'>;
  /** Ends everything at once. */
  exit(code: number): void;
  /** Path of the program that takes these commands, to start it again. */
  readonly program: string;
}

/** A command of the command line. */
export interface Command {
  /** What it needs to be given, as the usage shows it. */
  readonly usage: string;
  /** One sentence for the list of commands. */
  readonly summary: string;
  /** What else its help says: exit codes beyond 0 for done and 2 for a wrong call, how the result is used. */
  readonly details?: string;
  readonly flags: Flags;
  /** What the word behind its name may be: a command of its own. */
  readonly commands?: Readonly<Record<string, Command>>;
  /** Stands only for `commands`, of several plugins: lists show them in its place. */
  readonly isGroup?: true;
  /** Another name of what lists show already. */
  readonly isAlias?: true;
  /** Those of the environment that it looks at. */
  readonly variables?: Variables;
  /** @returns the exit code. @throws UsageError for flags it does not know. */
  run(args: string[], context: CommandContext): Promise<number>;
}

/** Variables of the environment that a command looks at: name, and what it says. */
export type Variables = Readonly<Record<string, string>>;

/** Of every command that reads a configuration. */
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

/** Of every command that may be let in by an admin port. */
export const tokenVariables: Variables = {
  GATEWAY_ADMIN_TOKEN: 'Token of the admin port, unless --admin-token-file is given.',
  GATEWAY_STATE_DIR: 'State directory, unless --state-dir is given.',
  STATE_DIRECTORY: 'State directory set by systemd, unless GATEWAY_STATE_DIR is set.',
  XDG_STATE_HOME: 'Without any of them, the state directory is $XDG_STATE_HOME/sluice.',
};

/** Of every command that has an admin port, or talks to one. */
export const adminVariables: Variables = {
  GATEWAY_ADMIN_LISTEN: 'Address of the admin port, unless --admin is given.',
  ...tokenVariables,
};

/** Of every command that prints for people. */
export const colourVariables: Variables = { NO_COLOR: 'No colours, also on a terminal.' };

/** All of them. */
export const allVariables: Variables = { ...configVariables, ...adminVariables, ...colourVariables };
