import type { Catalogue, PluginCommand } from '#contract';
import { GatewayError } from '../contract/internal.ts';
import { type Operations, startGateway, version } from '../index.ts';
import { acceptFile } from './accepted-file.ts';
import { readArguments } from './arguments.ts';
import { awaitEnd } from './await-end.ts';
import type { Command, CommandContext } from './command.ts';

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
      const serve = (configuration: object) => serveUntilEnd(configuration, context);
      return command.run({ values, positionals, stdout, stderr, env, readConfig, serve });
    },
  };
}

async function serveUntilEnd(configuration: object, context: CommandContext): Promise<number> {
  const { catalogue, stderr, sinks } = context;
  let gateway: Operations | null = null;
  try {
    gateway = await startGateway(catalogue, configuration, sinks ? { sinks } : {});
    const { ended } = awaitEnd(gateway, context);
    const { port } = await gateway.listen();
    stderr.write(`Sluice ${version} on port ${port}\n`);
    await ended;
    return 0;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    stderr.write(`ERROR ${error.message}\n`);
    return 1;
  } finally {
    await gateway?.close();
  }
}
