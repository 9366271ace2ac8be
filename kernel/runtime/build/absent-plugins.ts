import type { ConfigError } from '#contract';

/** Error codes for plugins that a document names but that cannot be found. */
const CODES: ReadonlySet<string> = new Set(['PLUGIN_FOLDER', 'PLUGIN_PACKAGE']);

/** Locations where a document names plugins that cannot be found. Plugins named on the command line must exist. */
export function absentPlugins(errors: readonly ConfigError[]): ReadonlySet<string> {
  return new Set(errors.filter(({ code, pointer }) => CODES.has(code) && pointer !== '').map(({ pointer }) => pointer));
}

/** True for the error that reports one of the absent plugins. */
export function isAbsent({ code, pointer }: ConfigError, absent: ReadonlySet<string>): boolean {
  return CODES.has(code) && absent.has(pointer);
}
