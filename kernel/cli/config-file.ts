import { existsSync } from 'node:fs';
import { UsageError } from './arguments.ts';
import type { CommandContext } from './command.ts';

/** Extensions of configuration files. */
const extensions = ['json', 'yaml', 'yml', 'toml'];
/** File names searched for in the working directory. */
const names = ['gateway', 'krakend'].flatMap((name) => extensions.map((extension) => `${name}.${extension}`));

/** These names, for people. */
export const defaultNames = 'gateway.json, .yaml, .yml or .toml, or krakend.json, .yaml, .yml or .toml';

/**
 * The configuration file that a command was given, by `-c` or as its only argument, or else the one that the working
 * directory has; standard error then names it.
 * @throws UsageError for two files, and where the working directory has none or several.
 */
export function requireFile(
  flag: string | undefined,
  positionals: readonly string[],
  { stderr }: Pick<CommandContext, 'stderr'>,
): string {
  const [file, extra] = flag === undefined ? positionals : [flag, ...positionals];
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}": the configuration file is ${file}`);
  if (file !== undefined) return file;
  const found = names.filter((name) => existsSync(name));
  const [only, other] = found;
  if (only === undefined) {
    throw new UsageError(
      `no configuration file: the working directory has no ${defaultNames}\nGive one with -c FILE, or create one with sluice init.`,
    );
  }
  if (other !== undefined) throw new UsageError(`several configuration files found: choose one of ${found.join(', ')}`);
  stderr.write(`Using ${only}\n`);
  return only;
}
