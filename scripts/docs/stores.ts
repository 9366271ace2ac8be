import type { Catalogue } from '#contract';
import { sourceVariables } from '../../kernel/sources/address.ts';
import { code, plain, table } from './markdown.ts';

/** The page of the stores that configurations are read from, made from their plugins. */
export async function storesPage({ sources = {} }: Catalogue): Promise<string> {
  const plugins = new Set(await Promise.all(Object.values(sources).map(async (load) => (await load()).plugin)));
  const rows = [...plugins].map(({ description, configSources }) => [code(configSources!.form), plain(description)]);
  const segments = [
    '# Stores of configurations',
    '`sluice run ADDRESS` reads the configuration from a store, and applies its changes. `sluice push`, `sluice pull` and `sluice diff` accept the same addresses.',
    table(['Address', 'What it does'], rows),
    'The last revision is copied to the state directory, and the gateway starts with the copy if the store does not respond. A configuration that is not valid is not applied, and the gateway starts with the last good one. A revision that is older than the copy is not used.',
    'Several files can belong to a configuration, at most 1000, with at most 64 MiB in all; the configuration is the one that is named `gateway` or `krakend`, with the extension `.json`, `.yaml`, `.yml` or `.toml`.',
    '## Environment variables',
    table(
      ['Variable', 'Meaning'],
      Object.entries(sourceVariables).map(([name, meaning]) => [code(name), plain(meaning)]),
    ),
  ];
  return `${segments.join('\n\n')}\n`;
}
