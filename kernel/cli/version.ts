import { version as release } from '../version.ts';
import type { Command } from './command.ts';

export const version: Command = {
  usage: '',
  summary: 'Tell the version of the gateway and of its runtime.',
  async run(_args, { stdout }) {
    stdout.write(`Sluice Version: ${release}\nNode.js Version: ${process.versions.node}\n`);
    return 0;
  },
};
