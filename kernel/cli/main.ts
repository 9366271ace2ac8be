import { UsageError, unknownWord } from './arguments.ts';
import { audit } from './audit.ts';
import { check } from './check.ts';
import type { Command, CommandContext } from './command.ts';
import { diff } from './diff.ts';
import { events } from './events.ts';
import { explain } from './explain.ts';
import { commandHelp, overview, usageLine } from './help.ts';
import { history } from './history.ts';
import { migrate } from './migrate.ts';
import { plugin } from './plugin/index.ts';
import { pluginCommands } from './plugin-commands.ts';
import { reload } from './reload.ts';
import { rollback } from './rollback.ts';
import { routes } from './routes.ts';
import { run } from './run.ts';
import { schema } from './schema.ts';
import { status } from './status.ts';
import { guardOutput } from './terminal.ts';
import { version } from './version.ts';
import { worker } from './worker.ts';

const commands: Readonly<Record<string, Command>> = {
  run,
  check,
  audit,
  routes,
  explain,
  migrate,
  diff,
  plugin,
  schema,
  status,
  reload,
  rollback,
  history,
  events,
  version,
};
/** Not for people: what the gateway starts itself. */
const hidden: Readonly<Record<string, Command>> = { worker };
const aliases: Readonly<Record<string, string>> = { validate: 'check', '-v': 'version', '--version': 'version' };

/** Exit code for a call that cannot be understood. */
const USAGE = 2;
/** Exit code where the output cannot be written. */
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
  const [asked, ...others] = isTopic ? rest : [first, ...rest];
  if (asked === undefined) {
    stdout.write(overview({ ...(await pluginCommands(context.catalogue)), ...commands }));
    return 0;
  }
  const word = Object.hasOwn(aliases, asked) ? aliases[asked]! : asked;
  const brought = isOwn(word) ? {} : await pluginCommands(context.catalogue);
  const outer = commandOf(word, brought);
  const inner = outer?.commands && Object.hasOwn(outer.commands, others[0] ?? '') ? outer.commands[others[0]!]! : null;
  const command = inner ?? outer;
  const [name, args] = inner ? [`${word} ${others[0]}`, others.slice(1)] : [word, others];
  if (!command) {
    const { message } = unknownWord('command', asked, Object.keys({ ...commands, ...aliases, ...brought }));
    stderr.write(`${message}\n\nsluice help lists the commands.\n`);
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
    stderr.write(`${error.message}\n\n${usageLine(name, command)}sluice help ${name} explains it.\n`);
    return USAGE;
  }
}

function isOwn(name: string): boolean {
  return Object.hasOwn(hidden, name) || Object.hasOwn(commands, name);
}

function commandOf(name: string, brought: Readonly<Record<string, Command>>): Command | undefined {
  const table = [hidden, commands, brought].find((known) => Object.hasOwn(known, name));
  return table?.[name];
}
