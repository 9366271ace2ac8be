import { UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { checkPlugins } from './check.ts';
import { listPlugins } from './list.ts';
import { newPlugin } from './new.ts';
import { testPlugins } from './test.ts';

/** Command group for custom plugins: create, test, check and list. */
export const plugin: Command = {
  usage: 'new | test | check | list',
  flags: {},
  summary: 'Create, test, check and list custom plugins.',
  details: 'Run sluice help plugin new, and so on, for details.',
  commands: { new: newPlugin, test: testPlugins, check: checkPlugins, list: listPlugins },
  async run() {
    throw new UsageError('a subcommand is required: new, test, check or list');
  },
};
