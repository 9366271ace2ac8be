import { UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { checkCommand } from './check.ts';
import { inferCommand } from './infer.ts';

/** Command group for contracts: what clients receive from each endpoint. */
export const contracts: Command = {
  usage: 'infer | check',
  flags: {},
  summary: 'Infer what clients receive from each endpoint, and check a configuration against it.',
  details: 'Run sluice help contracts infer, and so on, for details.',
  commands: { infer: inferCommand, check: checkCommand },
  async run() {
    throw new UsageError('a subcommand is required: infer or check');
  },
};
