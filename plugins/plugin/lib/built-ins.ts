import type { ConfigError } from '#contract';
import type { Kind } from './handlers.ts';
import type { HostSite } from './host.ts';

/** Plugins that the compatible product includes, by kind, each with the alternative to use. */
const builtIns: Readonly<Partial<Record<Kind, Readonly<Record<string, string>>>>> = {
  httpClient: {
    'http-logger': '"telemetry/logging" on the backend writes such lines',
  },
};

/** Creates the error for a plugin of the compatible product that this release does not include; undefined for any other name. */
export function refuseBuiltIn(
  site: HostSite,
  name: string,
  kinds: readonly Kind[],
  pointer: string,
): ConfigError | undefined {
  const known = kinds.map((kind) => builtIns[kind]).find((names) => names && Object.hasOwn(names, name));
  if (!known) return undefined;
  return site.fault('CONFIG_NOT_SUPPORTED', pointer, `the built-in plugin "${name}" is not supported yet`, {
    hint: known[name],
  });
}
