import type { Command } from '../command.ts';

/** A process that examines configurations for a running gateway, which sends them. */
export const helper: Command = {
  usage: '',
  summary: 'Examine configurations for a running gateway.',
  flags: {},
  async run(_args, { catalogue }) {
    const { runHelper } = await import('../../cases/replay/helper.ts');
    return runHelper(catalogue);
  },
};
