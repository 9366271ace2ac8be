import { audit } from './audit.ts';
import { check } from './check.ts';
import { type Command, type CommandContext, UsageError } from './command.ts';
import { diff } from './diff.ts';
import { events } from './events.ts';
import { explain } from './explain.ts';
import { history } from './history.ts';
import { migrate } from './migrate.ts';
import { reload } from './reload.ts';
import { rollback } from './rollback.ts';
import { routes } from './routes.ts';
import { run } from './run.ts';
import { schema } from './schema.ts';
import { status } from './status.ts';
import type { Terminal } from './terminal.ts';
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

/** Runs one command. @returns the exit code. */
export async function main(args: readonly string[], context: CommandContext): Promise<number> {
  const [first = 'help', ...rest] = args;
  if (first === 'help' || first === '-h' || first === '--help') return help(rest[0], context);
  const name = (Object.hasOwn(aliases, first) ? aliases[first] : undefined) ?? first;
  const table = Object.hasOwn(hidden, name) ? hidden : commands;
  const command = Object.hasOwn(table, name) ? table[name] : undefined;
  if (!command) {
    context.stderr.write(`unknown command: ${first}\n\n${overview()}`);
    return USAGE;
  }
  if (rest.includes('-h') || rest.includes('--help')) return help(name, context);
  try {
    return await command.run(rest, context);
  } catch (error) {
    if (!(error instanceof UsageError) && !isFlagError(error)) throw error;
    context.stderr.write(`${(error as Error).message}\n\nusage: sluice ${name} ${command.usage}\n`);
    return USAGE;
  }
}

function isFlagError(error: unknown): boolean {
  return error instanceof TypeError && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
}

function help(topic: string | undefined, { stdout }: Terminal): number {
  const command = topic !== undefined && Object.hasOwn(commands, topic) ? commands[topic] : undefined;
  stdout.write(command ? `usage: sluice ${topic} ${command.usage}\n\n${command.summary}\n` : overview());
  return 0;
}

function overview(): string {
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`);
  return `usage: sluice <command> [flags]\n\n${lines.join('\n')}\n  ${'help'.padEnd(10)}Tell how a command is used.\n`;
}
