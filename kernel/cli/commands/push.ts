import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type Flags, isConfigName, SourceConflict, type SourceRevision } from '#contract';
import { formatNameOf } from '../../config/index.ts';
import { sourceVariables } from '../../sources/address.ts';
import { MAX_BYTES } from '../../sources/open-source.ts';
import { demandUsable } from '../../sources/revision-limits.ts';
import { readArguments, UsageError } from '../arguments.ts';
import { type Command, colourVariables, configVariables } from '../command.ts';
import { acceptFile, pluginsFlag } from '../files/accepted-file.ts';
import { cannotRead } from '../files/file-errors.ts';
import { readLocal, withSource } from '../files/remote-configuration.ts';

const flags = {
  plugins: pluginsFlag,
  expect: {
    type: 'string',
    value: 'VERSION',
    otherwise: 'the version at the time of the command',
    about: 'Version that the store must have, as pull prints it; none if it must have no configuration.',
  },
} as const satisfies Flags;

/**
 * Checks a configuration and writes it to a store. Exit code 0 when it is written, 1 for an invalid configuration or another
 * version in the store, 2 usage error, 3 when the store cannot be used.
 */
export const push: Command = {
  usage: 'PATH ADDRESS',
  flags,
  variables: { ...configVariables, ...sourceVariables, ...colourVariables },
  summary: 'Check a configuration, and write it to the store that gateways read it from.',
  details:
    'PATH is a file, which replaces the configuration in the store, or a directory, whose files replace all files there. Exit codes: 0 written, 1 the configuration is not valid or the store has another version, 2 usage error, 3 the store cannot be used.',
  async run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const [path, address, ...others] = positionals;
    if (path === undefined || address === undefined || others.length > 0) {
      throw new UsageError('a file or directory and the address of a store are required');
    }
    const stats = await stat(path).catch((error) => {
      throw new UsageError(cannotRead(path, error));
    });
    const local = await readLocal(path, stats.isDirectory());
    const file = stats.isDirectory() ? join(path, local.keys().next().value!) : path;
    if ((await acceptFile(file, { ...context, plugins: values.plugins }, true)) === null) return 1;
    return withSource(address, context, async ({ source, shown }, signal) => {
      if (!source.write) throw new Error('this kind of store cannot be written by sluice push');
      const present = await source.read(signal);
      const expected = values.expect === undefined ? (present?.version ?? null) : versionOf(values.expect);
      const files = stats.isDirectory() ? local : replacing(path, local, address, present);
      demandUsable({ version: '', order: null, files }, MAX_BYTES);
      try {
        const version = await source.write({ files, expected }, signal);
        context.stdout.write(`${shown} has version ${version}\n`);
        return 0;
      } catch (error) {
        if (!(error instanceof SourceConflict)) throw error;
        context.stderr.write(`ERROR ${shown} was not changed: ${error.message}, not ${expected ?? 'none'}\n`);
        return 1;
      }
    });
  },
};

function versionOf(text: string): string | null {
  return text === 'none' ? null : text;
}

/**
 * The files of a store, with another configuration, which keeps its name there: gateways read it by that name.
 * @throws Error if the name is that of another format.
 */
function replacing(
  path: string,
  local: SourceRevision['files'],
  address: string,
  present: SourceRevision | null,
): SourceRevision['files'] {
  const named = new URL(address).pathname.split('/').at(-1)!;
  const initial = isConfigName(named) ? named : `gateway${extname(path).toLowerCase()}`;
  const name = present?.files.keys().next().value ?? initial;
  if (formatNameOf(name) !== formatNameOf(path)) {
    throw new Error(`the configuration is named ${name} in the store, and ${path} has another format`);
  }
  return new Map([...(present?.files ?? []), [name, local.values().next().value!]]);
}
