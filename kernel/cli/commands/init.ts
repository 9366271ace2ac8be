import { writeFile } from 'node:fs/promises';
import type { Flags } from '#contract';
import { oneOf, readArguments } from '../arguments.ts';
import type { Command } from '../command.ts';
import { cannotWrite } from '../files/file-errors.ts';

const flags = {
  format: { type: 'string', value: 'FORMAT', default: 'json', about: 'File format: json, yaml or toml.' },
} as const satisfies Flags;

/**
 * Writes a starter configuration. Exit code 0; 1 when the file exists or cannot be written. Never overwrites a file.
 */
export const init: Command = {
  usage: '',
  flags,
  summary: 'Create a small commented configuration, gateway.json.',
  details: 'Exit codes: 0 created, 1 the file exists or cannot be written, 2 usage error.',
  async run(args, { stdout, stderr, catalogue }) {
    const { values } = readArguments(args, flags);
    const { starters = {} } = (await catalogue.starters?.()) ?? {};
    const format = oneOf('format', values.format, Object.keys(starters));
    const file = `gateway.${format}`;
    try {
      await writeFile(file, starters[format]!, { flag: 'wx' });
    } catch (error) {
      const exists = (error as NodeJS.ErrnoException).code === 'EEXIST';
      stderr.write(exists ? `ERROR ${file} already exists and is not overwritten\n` : `${cannotWrite(file, error)}\n`);
      return 1;
    }
    stdout.write(`Wrote ${file}. Set "host" to the address of your service, then:

  sluice check
  sluice run
  curl http://localhost:8080/__health
`);
    return 0;
  },
};
