/** Extensions of configuration files. */
const extensions = ['json', 'yaml', 'yml', 'toml'];

/** Names of configuration files that are found by themselves, in order of preference. */
export const configNames: readonly string[] = ['gateway', 'krakend'].flatMap((name) =>
  extensions.map((extension) => `${name}.${extension}`),
);

/** True for the name of a configuration file. */
export function isConfigName(name: string): boolean {
  return extensions.some((extension) => name.toLowerCase().endsWith(`.${extension}`));
}

/** Name of the configuration among several files; undefined if none is named like one. */
export function mainName(names: Iterable<string>): string | undefined {
  const all = new Set(names);
  return configNames.find((name) => all.has(name));
}
