import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DeniedAddresses, ListenAddress } from '#contract';
import type { GatewayOptions } from '../control/gateway-options.ts';

/** The command of this package, which other processes of a gateway run by default. */
export const ownProgram = fileURLToPath(new URL(`../bin${extname(import.meta.url)}`, import.meta.url));

/** Settings of the processes in which changes are rehearsed. */
export interface RehearsalSettings {
  readonly program: string;
  /** Folder of plugin files in addition to the one that a configuration names; null without one. */
  readonly pluginFolder: string | null;
  /** Addresses that no connection of these processes may reach, as of now. */
  readonly denied: readonly ListenAddress[];
}

export function rehearsalsOf(
  { program = ownProgram, pluginFolder }: GatewayOptions,
  denied: DeniedAddresses,
): RehearsalSettings {
  return {
    program,
    pluginFolder: pluginFolder ?? null,
    get denied() {
      return denied.all;
    },
  };
}
