import { existsSync } from 'node:fs';
import { configNames } from '../../values/config-names.ts';
import { UsageError } from '../arguments.ts';
import type { CommandContext } from '../command.ts';

/** Description of the default file names in messages. */
export const defaultNames = 'gateway.json, .yaml, .yml or .toml, or krakend.json, .yaml, .yml or .toml';

/**
 * Returns the configuration file given by `-c` or as the only argument; otherwise the one in the working directory,
 * whose name is then printed on standard error.
 * @throws UsageError for two files, and when the working directory has none or several.
 */
export function requireFile(
  flag: string | undefined,
  positionals: readonly string[],
  { stderr }: Pick<CommandContext, 'stderr'>,
): string {
  const [file, extra] = flag === undefined ? positionals : [flag, ...positionals];
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}": the configuration file is ${file}`);
  if (file !== undefined) return file;
  const existing = configNames.filter((name) => existsSync(name));
  const [only, other] = existing;
  if (only === undefined) {
    throw new UsageError(
      `no configuration file: the working directory has no ${defaultNames}\nGive one with -c FILE, or create one with sluice init.`,
    );
  }
  if (other !== undefined)
    throw new UsageError(`several configuration files found: choose one of ${existing.join(', ')}`);
  stderr.write(`Using ${only}\n`);
  return only;
}
