import type { Log } from './log.ts';
import type { Plugin } from './plugin.ts';

/**
 * The line between the gateway and a plugin's thread, as one place of a configuration has it. What goes over it is copied as
 * `structuredClone` does; errors are errors of the same kind on the other side.
 */
export interface Line {
  /**
   * Asks the other side.
   * @throws what the other side throws; Error for what cannot be copied, and once the thread is gone.
   */
  ask(operation: string, value: unknown): Promise<unknown>;
  /** Says something that nobody answers. */
  say(operation: string, value: unknown): void;
}

/** Answers what the other side asks, and hears what it says. */
export type Receive = (operation: string, value: unknown) => unknown;

/** What runs in the thread beside the module, and serves it. */
export interface Guest {
  /**
   * What the module says of itself, as plain data; undefined for one that is not to be isolated.
   * @throws ConfigError for one that cannot be.
   */
  manifestOf(module: Readonly<Record<string, unknown>>, file: string): unknown;
  /** @returns what opens a place, and what is called when the last one has gone. */
  serve(
    module: Readonly<Record<string, unknown>>,
    file: string,
  ): { open(line: Line): Receive; close(): void | Promise<void> };
}

/** One place of a configuration whose code runs in the thread. */
export interface ThreadUser {
  readonly log: Log;
  /** The thread runs, for the first time or again: what the place needs there is to be made. A failure ends the place. */
  started(line: Line): Promise<void>;
  /** Answers the place's code. */
  receive: Receive;
  /** The thread is gone; it is started again a moment later. */
  ended(reason: Error): void;
}

/** A plugin's file whose code runs in a thread of its own: there for as long as a configuration uses it. */
export interface IsolatedModule {
  /** As of `Guest.manifestOf`. */
  readonly manifest: unknown;
  /**
   * Begins to use the thread, which starts with the first user.
   * @returns what ends the use. @throws what `started` throws; Error where the thread does not start.
   */
  join(user: ThreadUser): Promise<() => Promise<void>>;
}

/** How modules of a form are run in threads of their own. */
export interface Isolation {
  /** The program that exports `guest: Guest`; it is imported in the thread. */
  readonly guest: URL;
  /** As of `AdaptModule`, for a module that is never imported on this side. */
  adapt(module: IsolatedModule, file: string): Plugin;
}
