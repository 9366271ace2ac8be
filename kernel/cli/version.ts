import { version as release } from '../version.ts';
import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';

export const version: Command = {
  usage: '',
  summary: 'Print the version of the gateway and of its runtime.',
  flags: {},
  async run(args, { stdout }) {
    readArguments(args, {});
    stdout.write(`Sluice Version: ${release}\nNode.js Version: ${process.versions.node}\n`);
    return 0;
  },
};
