import { isConfigName, mainName } from '#contract';

/** Name of a single file: the last name of the path if it is one of a configuration, else `gateway.json`. */
export function fileNameOf(path: string): string {
  const name = path.split('/').at(-1)!;
  return isConfigName(name) ? name : 'gateway.json';
}

/**
 * Orders files so that the configuration is first.
 * @returns null without files. @throws Error if none of them is named like a configuration.
 */
export function withMain(
  files: ReadonlyMap<string, Uint8Array>,
  where: string,
): ReadonlyMap<string, Uint8Array> | null {
  if (files.size === 0) return null;
  const main = mainName(files.keys());
  if (main === undefined) throw new Error(`${where} has no configuration: name it gateway.json, .yaml, .yml or .toml`);
  return new Map([[main, files.get(main)!], ...[...files].filter(([name]) => name !== main)]);
}

/** @throws Error if several files are written to an address of one file. */
export function demandSingle(files: ReadonlyMap<string, Uint8Array>): void {
  if (files.size <= 1) return;
  throw new Error('the address names a single file: to write several files, use the address of a prefix');
}
