import type { Plugin } from '#contract';
import type { SecretValues } from '../config/index.ts';
import type { Overrides } from '../runtime/build/read-config.ts';
import type { ConfigStore } from '../sources/mirror.ts';
import type { EngineOptions } from './engine.ts';

/** Options for starting a gateway. */
export interface GatewayOptions extends Omit<Overrides, 'plugins'>, Omit<EngineOptions, 'ask' | 'events' | 'debug'> {
  /** Enables `/__debug/`, and writes DEBUG lines if no component sets the log level. Default: false. */
  readonly debug?: boolean;
  /** Directory for the configuration history. Default: null, the history is only in memory. */
  readonly revisionDirectory?: string | null;
  /**
   * Plugins in addition to the built-in ones. A plugin with the name of a built-in one is rejected, because nothing is
   * replaced implicitly. Not available in workers, which are separate processes.
   */
  readonly plugins?: readonly Plugin[];
  /** Folder of plugin files, in addition to the one that the configuration names; also used by workers. */
  readonly pluginFolder?: string;
  /** Program of the processes in which changes are rehearsed. Default: this package's command. */
  readonly program?: string;
  /** Values of the first configuration's references to secrets: its stores are not called. Only in a sandbox. */
  readonly secrets?: SecretValues;
  /** Starts with the last good configuration when the current one is rejected. Default: false. */
  readonly resumeLastGood?: boolean;
  /** Store that the configuration file is copied from. Default: the file is not a copy. */
  readonly store?: ConfigStore;
  /**
   * Number of worker processes that serve requests, and their settings; this process then only applies changes.
   * Default: this process serves.
   */
  readonly workers?: WorkerOptions;
}

/** Settings of the worker processes. */
export interface WorkerOptions {
  readonly count: number;
  /** Program that workers run; the input for `runWorker` is appended as the last argument. Default: this package's command. */
  readonly program?: string;
  /** Arguments of the program. Default: `worker`. */
  readonly args?: readonly string[];
}

/** Command line options that override every configuration. */
export function overridesOf({ port, debug, pluginFolder }: GatewayOptions): Overrides {
  return {
    ...(port !== undefined && { port }),
    ...(debug !== undefined && { debug }),
    ...(pluginFolder !== undefined && { plugins: pluginFolder }),
  };
}
