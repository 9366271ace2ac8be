import type { Catalogue, EndpointContract, PluginCommand } from '#contract';
import { GatewayError } from '../contract/internal.ts';
import { type Operations, startGateway, version } from '../index.ts';
import { readArguments, UsageError } from './arguments.ts';
import { awaitEnd } from './await-end.ts';
import type { Command, CommandContext } from './command.ts';
import { acceptFile } from './files/accepted-file.ts';

/** Returns the commands of plugins, by name. Loads the plugins that may provide commands. */
export async function pluginCommands({ plugins, commands }: Catalogue): Promise<Record<string, Command>> {
  const namespaces = commands ?? Object.keys(plugins);
  const loaded = await Promise.all(namespaces.map(async (name) => (await plugins[name]!()).plugin));
  const brought = loaded.flatMap(({ commands = {} }) => Object.entries(commands));
  const named = brought.map(([name, command]) => [name, asCommand(command)] as const);
  const aliases = brought.flatMap(([, command]) =>
    (command.aliases ?? []).map((alias) => [alias, { ...asCommand(command), isAlias: true }] as const),
  );
  return grouped([...named, ...aliases]);
}

/** Groups two-word commands under their first word. */
function grouped(commands: readonly (readonly [name: string, command: Command])[]): Record<string, Command> {
  const table = new Map<string, Command>();
  const groups = Map.groupBy(commands, ([name]) => name.split(' ', 1)[0]!);
  for (const [word, members] of groups) {
    const [first] = members;
    if (first![0] === word) table.set(word, first![1]);
    else table.set(word, groupOf(word, Object.fromEntries(members.map(([name, each]) => [lastWord(name), each]))));
  }
  return Object.fromEntries(table);
}

function lastWord(name: string): string {
  return name.slice(name.indexOf(' ') + 1);
}

function groupOf(word: string, commands: Readonly<Record<string, Command>>): Command {
  const names = Object.keys(commands);
  return {
    usage: names.join(' | '),
    flags: {},
    summary: `One of ${names.map((name) => `${word} ${name}`).join(', ')}.`,
    details: `Run sluice help ${word} ${names[0]}, and so on, for details.`,
    commands,
    isGroup: true,
    ...(Object.values(commands).every(({ isAlias }) => isAlias) && { isAlias: true }),
    async run() {
      throw new UsageError(`specify what to ${word}: ${names.join(' or ')}`);
    },
  };
}

function asCommand(command: PluginCommand): Command {
  return {
    ...command,
    run(args, context) {
      const { stdout, stderr, env } = context;
      const { values, positionals } = readArguments(args, command.flags, command.usage !== '');
      const readConfig = async (file: string) => (await acceptFile(file, context, false))?.config ?? null;
      const serve = (configuration: object) => serveUntilEnd(configuration, context);
      const readContracts = (folder: string) => contractsIn(folder, context);
      return command.run({ values, positionals, stdout, stderr, env, readConfig, readContracts, serve });
    },
  };
}

async function contractsIn(folder: string, context: CommandContext): Promise<readonly EndpointContract[] | null> {
  const [{ readFolder }, { describeContract }] = await Promise.all([
    import('./contracts/sources.ts'),
    import('../cases/index.ts'),
  ]);
  const read = await readFolder(folder, context);
  return read && [...read.contracts.values()].map(describeContract);
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
