import type { Catalogue, PluginCommand } from '#contract';
import { acceptFile } from './accepted-file.ts';
import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';

/** The commands that plugins bring, by name. Loads every plugin. */
export async function pluginCommands({ plugins }: Catalogue): Promise<Record<string, Command>> {
  const loaded = await Promise.all(Object.values(plugins).map(async (load) => (await load()).plugin));
  const commands = loaded.flatMap(({ commands = {} }) => Object.entries(commands));
  return Object.fromEntries(commands.map(([name, command]) => [name, asCommand(command)]));
}

function asCommand(command: PluginCommand): Command {
  return {
    ...command,
    run(args, context) {
      const { stdout, stderr, env } = context;
      const { values, positionals } = readArguments(args, command.flags, command.usage !== '');
      const readConfig = async (file: string) => (await acceptFile(file, context, false))?.config ?? null;
      return command.run({ values, positionals, stdout, stderr, env, readConfig });
    },
  };
}
