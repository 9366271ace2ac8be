import type { Command } from '../command.ts';

/** Runs a process that tries out configuration changes for a running gateway, which sends them. */
export const rehearse: Command = {
  usage: '',
  summary: 'Rehearse changes for a running gateway.',
  flags: {},
  async run(_args, { catalogue }) {
    const { runRehearsals } = await import('../../cases/rehearsal/rehearsal-process.ts');
    return runRehearsals(catalogue);
  },
};
