import type { Log } from './log.ts';
import type { Plugin } from './plugin.ts';

/**
 * The message channel between the gateway and a plugin's thread, for one service, endpoint or backend that configures
 * the plugin. Values are copied by `structuredClone`; errors arrive as errors of the same kind.
 */
export interface Line {
  /**
   * Sends a request to the other thread and waits for its response.
   * @throws the error that the other thread throws; Error for values that cannot be copied, and after the thread has
   * ended.
   */
  ask(operation: string, value: unknown): Promise<unknown>;
  /** Sends a message to the other thread, without waiting for a response. */
  say(operation: string, value: unknown): void;
}

/** Handles requests and messages from the other thread. */
export type Receive = (operation: string, value: unknown) => unknown;

/** Program in the thread of an isolated module, which loads and serves the module. */
export interface Guest {
  /**
   * Description of the module as plain data; undefined if it is not to be isolated.
   * @throws ConfigError if it cannot be isolated.
   */
  manifestOf(module: Readonly<Record<string, unknown>>, file: string): unknown;
  /** @returns functions that open the module for an endpoint, backend or the service, and that run after the last of them has closed. */
  serve(
    module: Readonly<Record<string, unknown>>,
    file: string,
  ): { open(line: Line): Receive; close(): void | Promise<void> };
}

/** An endpoint, backend or service of a configuration whose plugin runs in the thread. */
export interface ThreadUser {
  readonly log: Log;
  /** The thread has started or restarted: creates the handler there. If that fails, this user is closed. */
  started(line: Line): Promise<void>;
  /** Handles requests from the handler in the thread. */
  receive: Receive;
  /** The thread has ended. It is restarted shortly afterwards. */
  ended(reason: Error): void;
}

/** A plugin file whose code runs in its own thread while a configuration uses it. */
export interface IsolatedModule {
  /** Description of the module as plain data. */
  readonly manifest: unknown;
  /**
   * Starts using the thread; the first user starts it.
   * @returns a function that ends the use. @throws exceptions of `started`; Error if the thread does not start.
   */
  join(user: ThreadUser): Promise<() => Promise<void>>;
}

/** Runs modules of a form in their own threads. */
export interface Isolation {
  /** URL of the program that exports `guest: Guest`; it is imported in the thread. */
  readonly guest: URL;
  /** Converts a module to a plugin. The module is never imported in the main thread. */
  adapt(module: IsolatedModule, file: string): Plugin;
}
