import type { Plugin } from '#contract';
import type { Overrides } from '../runtime/read-config.ts';
import type { EngineOptions } from './engine.ts';

/** How a gateway is started. */
export interface GatewayOptions extends Omit<Overrides, 'plugins'>, Omit<EngineOptions, 'ask' | 'events' | 'debug'> {
  /** Enables `/__debug/`, and writes DEBUG lines where no component says which level is written. Default false. */
  readonly debug?: boolean;
  /** Where the history of configurations is kept; null, the default, for in memory only. */
  readonly revisionDirectory?: string | null;
  /**
   * Plugins beside those of the release. One that has the name of a plugin there is refused: nothing is replaced unasked.
   * They do not reach workers, which are processes of their own.
   */
  readonly plugins?: readonly Plugin[];
  /** A folder with plugins in files, besides the one that the configuration names; they reach workers too. */
  readonly pluginFolder?: string;
  /** Starts with the last configuration that was good when the present one is refused. Default false. */
  readonly resumeLastGood?: boolean;
  /** Serves in processes of their own; this one then decides and does not serve. Default: serves itself. */
  readonly workers?: WorkerOptions;
}

/** Processes that serve. */
export interface WorkerOptions {
  readonly count: number;
  /** The program they run; what `runWorker` needs follows as its last argument. Default: the command of this package. */
  readonly program?: string;
  /** Its arguments. Default: `worker`. */
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
