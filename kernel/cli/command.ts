import type { EventEmitter } from 'node:events';
import type { Catalogue, LogSinks, PluginCommand } from '#contract';
import type { StartAdmin } from '../index.ts';
import type { Terminal } from './terminal.ts';

/** Environment of a command: everything that it uses from its process, except the file system. */
export interface CommandContext extends Terminal {
  readonly catalogue: Catalogue;
  /** Folder with plugins, in addition to those of the release and of the configuration. */
  readonly plugins?: string | undefined;
  /**
   * Destination for the logs of a gateway started by a command. Default: standard output and standard error of the
   * process.
   */
  readonly sinks?: LogSinks | undefined;
  /** Opens the admin port of a gateway. Without this function, the gateway has no admin port. */
  readonly startAdmin?: StartAdmin | undefined;
  /** Emits SIGINT, SIGTERM and SIGHUP by name. */
  readonly signals: Pick<EventEmitter, 'on' | 'once' | 'off'>;
  /** Exits immediately. */
  exit(code: number): void;
  /** Path of this program, to start it again. */
  readonly program: string;
}

/** A command of the command line interface. Its details are exit codes other than 0 and 2, and how to use the result. */
export interface Command extends Pick<PluginCommand, 'usage' | 'summary' | 'details' | 'flags'> {
  /** Subcommands by name. */
  readonly commands?: Readonly<Record<string, Command>>;
  /** Set for a command that only groups `commands`, which may belong to several plugins: lists show the subcommands instead of the group. */
  readonly isGroup?: true;
  /** Set for an alias of a command that lists already show. */
  readonly isAlias?: true;
  /** Environment variables that the command reads. */
  readonly variables?: Variables;
  /** @returns the exit code. @throws UsageError for unknown flags. */
  run(args: string[], context: CommandContext): Promise<number>;
}

/** Environment variables that a command reads: name and description. */
export type Variables = Readonly<Record<string, string>>;

/** Variables of every command that reads a configuration. */
export const configVariables: Variables = {
  'GATEWAY_<FIELD>':
    'Replaces a plain value at the root of the file, if the file contains it. For example GATEWAY_PORT and GATEWAY_TIMEOUT.',
  'KRAKEND_<FIELD>': 'Fallback for GATEWAY_<FIELD>.',
  FC_ENABLE:
    'If not empty, the file is rendered as a template in the Go text/template language with the Sprig functions.',
  FC_SETTINGS: 'Directory of JSON files, each of which becomes a variable of the template.',
  FC_TEMPLATES: 'Directory of *.tmpl files that the template can call.',
  FC_PARTIALS: 'Directory of text files that the template can include.',
  FC_OUT: 'File to write the rendered configuration to, for inspection.',
  FC_CONFIG: 'File with template settings. Default: flexible_config.json, if it exists.',
  FC_DEBUG: 'If true, the variables of the template are printed.',
  GATEWAY_ENV_INTERPOLATION:
    // biome-ignore lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
    'If 1, the placeholders ${NAME}, ${NAME:-default}, ${NAME:?message} and ${file:/path} are replaced.',
};

/** Variables of every command that authenticates to an admin port. */
export const tokenVariables: Variables = {
  GATEWAY_ADMIN_TOKEN: 'Token of the admin port. Ignored if --admin-token-file is set.',
  GATEWAY_STATE_DIR: 'State directory. Ignored if --state-dir is set.',
  STATE_DIRECTORY: 'State directory that systemd sets. Ignored if GATEWAY_STATE_DIR is set.',
  XDG_STATE_HOME: 'If no state directory is set, it is $XDG_STATE_HOME/sluice.',
};

/** Variables of every command that opens an admin port, or connects to one. */
export const adminVariables: Variables = {
  GATEWAY_ADMIN_LISTEN: 'Address of the admin port. Ignored if --admin is set.',
  ...tokenVariables,
};

/** Variables of every command with output for people. */
export const colourVariables: Variables = { NO_COLOR: 'Disables colors, even on a terminal.' };

export const allVariables: Variables = { ...configVariables, ...adminVariables, ...colourVariables };
