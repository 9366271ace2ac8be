import type { Catalogue, ConfigSource } from '#contract';
import { accessOf, parseAddress, schemeOf } from './address.ts';

/** Maximum size of all files of a configuration, in bytes. */
export const MAX_BYTES = 64 * 1024 * 1024;

/** A source, and its address for messages. */
export interface OpenedSource {
  readonly source: ConfigSource;
  /** Without credentials. */
  readonly shown: string;
}

export interface OpenSourceOptions {
  readonly catalogue: Catalogue;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}

/** Opens the source at an address, by the plugin for its scheme. @throws Error for an address that no plugin accepts. */
export async function openSource(address: string, { catalogue, env }: OpenSourceOptions): Promise<OpenedSource> {
  const scheme = schemeOf(address) ?? '';
  const { sources = {} } = catalogue;
  if (!Object.hasOwn(sources, scheme)) {
    const known = Object.keys(sources).sort().join(', ');
    throw new Error(`no configuration can be read from ${scheme}:// (known: ${known})`);
  }
  const parsed = parseAddress(address);
  const { plugin } = await sources[scheme]!();
  const access = await accessOf(parsed, env);
  const source = plugin.configSources!.open({ address: parsed.url, access, env, maxBytes: MAX_BYTES });
  return { source, shown: parsed.shown };
}
