import type { EventEmitter } from 'node:events';
import type { Catalogue, Flags } from '#contract';
import type { StartAdmin } from '../index.ts';
import type { Terminal } from './terminal.ts';
import type { Variables } from './variables.ts';

/** What a command works with. It uses nothing else of the process but its files. */
export interface CommandContext extends Terminal {
  readonly catalogue: Catalogue;
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
  /** Those of the environment that it looks at. */
  readonly variables?: Variables;
  /** @returns the exit code. @throws UsageError for flags it does not know. */
  run(args: string[], context: CommandContext): Promise<number>;
}
