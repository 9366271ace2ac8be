import type { ConfigError } from '#contract';
import type { Kind } from './handlers.ts';
import type { HostSite } from './host.ts';

/** Plugins that the compatible product brings itself, by kind, each with what is to be done instead. */
const builtIns: Readonly<Partial<Record<Kind, Readonly<Record<string, string>>>>> = {
  httpClient: {
    'http-logger': '"telemetry/logging" on the backend writes such lines',
  },
};

/** The refusal of a plugin that the compatible product has and this release has not; undefined for any other name. */
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
