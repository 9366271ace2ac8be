import { UsageError, unknownWord } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { commandHelp, overview, usageLine } from './help.ts';
import { guardOutput } from './terminal.ts';

/** Loads a command on demand, so that a serving process does not hold the code for checks and audits. */
type Load = () => Promise<Command>;

const commands: Readonly<Record<string, Load>> = {
  init: async () => (await import('./commands/init.ts')).init,
  run: async () => (await import('./commands/run.ts')).run,
  check: async () => (await import('./check/check.ts')).check,
  test: async () => (await import('./cases/test.ts')).test,
  e2e: async () => (await import('./cases/test.ts')).e2e,
  replay: async () => (await import('./cases/replay.ts')).replay,
  attack: async () => (await import('./attack/attack.ts')).attack,
  contracts: async () => (await import('./contracts/index.ts')).contracts,
  compat: async () => (await import('./cases/compat.ts')).compat,
  audit: async () => (await import('./audit/audit.ts')).audit,
  routes: async () => (await import('./commands/routes.ts')).routes,
  explain: async () => (await import('./commands/explain.ts')).explain,
  migrate: async () => (await import('./commands/migrate.ts')).migrate,
  diff: async () => (await import('./commands/diff.ts')).diff,
  push: async () => (await import('./commands/push.ts')).push,
  pull: async () => (await import('./commands/pull.ts')).pull,
  plugin: async () => (await import('./plugin/index.ts')).plugin,
  schema: async () => (await import('./commands/schema.ts')).schema,
  status: async () => (await import('./commands/status.ts')).status,
  reload: async () => (await import('./commands/reload.ts')).reload,
  shadow: async () => (await import('./commands/shadow.ts')).shadow,
  rollback: async () => (await import('./commands/rollback.ts')).rollback,
  history: async () => (await import('./commands/history.ts')).history,
  record: async () => (await import('./commands/record.ts')).record,
  dashboard: async () => (await import('./dashboard/dashboard.ts')).dashboard,
  events: async () => (await import('./commands/events.ts')).events,
  version: async () => (await import('./commands/version.ts')).version,
};
/** Internal commands that the gateway starts itself. */
const hidden: Readonly<Record<string, Load>> = {
  worker: async () => (await import('./commands/worker.ts')).worker,
  rehearse: async () => (await import('./commands/rehearse.ts')).rehearse,
};
const aliases: Readonly<Record<string, string>> = { validate: 'check', '-v': 'version', '--version': 'version' };

/** Exit code for a usage error. */
const USAGE = 2;
/** Exit code when the output cannot be written. */
const UNWRITTEN = 1;

/** Runs one command. @returns the exit code. */
export async function main(args: readonly string[], context: CommandContext): Promise<number> {
  const written = guardOutput(context);
  const code = await runCommand(args, context);
  const failure = await written();
  if (failure === null) return code;
  context.stderr.write(`ERROR cannot write to standard output: ${failure.message}\n`);
  return code || UNWRITTEN;
}

async function runCommand([first = 'help', ...rest]: readonly string[], context: CommandContext): Promise<number> {
  const { stdout, stderr } = context;
  const isTopic = first === 'help' || first === '-h' || first === '--help';
  const [given, ...others] = isTopic ? rest : [first, ...rest];
  if (given === undefined) {
    stdout.write(overview(await allCommands(context)));
    return 0;
  }
  const word = Object.hasOwn(aliases, given) ? aliases[given]! : given;
  const brought = isOwn(word) ? {} : await loadBrought(context);
  const outer = await commandOf(word, brought);
  const inner = outer?.commands && Object.hasOwn(outer.commands, others[0] ?? '') ? outer.commands[others[0]!]! : null;
  const command = inner ?? outer;
  const [name, args] = inner ? [`${word} ${others[0]}`, others.slice(1)] : [word, others];
  if (!command) {
    const { message } = unknownWord('command', given, Object.keys({ ...commands, ...aliases, ...brought }));
    stderr.write(`${message}\n\nRun sluice help for a list of commands.\n`);
    return USAGE;
  }
  if (isTopic || args.includes('-h') || args.includes('--help')) {
    stdout.write(commandHelp(name, command));
    return 0;
  }
  try {
    return await command.run(args, context);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    stderr.write(`${error.message}\n\n${usageLine(name, command)}Run sluice help ${name} for details.\n`);
    return USAGE;
  }
}

function isOwn(name: string): boolean {
  return Object.hasOwn(hidden, name) || Object.hasOwn(commands, name);
}

async function commandOf(name: string, brought: Readonly<Record<string, Command>>): Promise<Command | undefined> {
  const own = [hidden, commands].find((known) => Object.hasOwn(known, name));
  if (own) return own[name]!();
  return Object.hasOwn(brought, name) ? brought[name] : undefined;
}

/** Loads the commands of plugins, and the gateway's code, because such commands may start a gateway. */
async function loadBrought({ catalogue }: Pick<CommandContext, 'catalogue'>): Promise<Record<string, Command>> {
  return (await import('./plugin-commands.ts')).pluginCommands(catalogue);
}

/** Loads all commands, of the gateway and of plugins, for help and documentation. */
export async function allCommands(context: Pick<CommandContext, 'catalogue'>): Promise<Record<string, Command>> {
  const loaded = Object.entries(commands).map(async ([name, load]) => [name, await load()] as const);
  return { ...(await loadBrought(context)), ...Object.fromEntries(await Promise.all(loaded)) };
}
