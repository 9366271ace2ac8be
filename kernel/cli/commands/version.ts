import { version as release } from '../../version.ts';
import { readArguments } from '../arguments.ts';
import type { Command } from '../command.ts';

export const version: Command = {
  usage: '',
  summary: 'Print the versions of the gateway and of Node.js.',
  flags: {},
  async run(args, { stdout }) {
    readArguments(args, {});
    stdout.write(`Sluice Version: ${release}\nNode.js Version: ${process.versions.node}\n`);
    return 0;
  },
};
