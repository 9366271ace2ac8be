import type { EventEmitter } from 'node:events';
import type { Catalogue } from '#contract';
import type { StartAdmin } from '../index.ts';
import type { Terminal } from './terminal.ts';

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
  /** Flags and arguments, as the usage shows them. */
  readonly usage: string;
  /** One sentence for the list of commands. */
  readonly summary: string;
  /** @returns the exit code. @throws UsageError for flags it does not know. */
  run(args: string[], context: CommandContext): Promise<number>;
}

/** The command was called in a way it does not understand. */
export class UsageError extends Error {}
