import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { Flags } from '#contract';
import { sourceVariables } from '../../sources/address.ts';
import { readArguments, UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { readUsable, withSource, writeFiles } from '../files/remote-configuration.ts';

const flags = {
  output: {
    type: 'string',
    short: 'o',
    value: 'DIRECTORY',
    otherwise: 'the configuration is printed to standard output',
    about: 'New directory for all files of the configuration.',
  },
} as const satisfies Flags;

/** Reads the configuration in a store. Exit code 0 when it is read, 2 usage error, 3 when the store cannot be used. */
export const pull: Command = {
  usage: 'ADDRESS',
  flags,
  variables: sourceVariables,
  summary: 'Read a configuration from the store that gateways read it from.',
  details: 'The version is printed to standard error. Exit codes: 0 read, 2 usage error, 3 the store cannot be used.',
  async run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const [address, ...others] = positionals;
    if (address === undefined || others.length > 0) throw new UsageError('the address of a store is required');
    const { output } = values;
    if (output !== undefined && existsSync(output)) throw new UsageError(`${output} exists already`);
    return withSource(address, context, async (opened, signal) => {
      const { files, version } = await readUsable(opened, signal);
      context.stderr.write(`${opened.shown} has version ${version}\n`);
      if (output === undefined) {
        context.stdout.write(Buffer.from(files.values().next().value!).toString());
      } else {
        await mkdir(output, { recursive: true, mode: 0o700 });
        await writeFiles(output, files);
      }
      return 0;
    });
  },
};
