import type { Catalogue } from '#contract';
import { check } from './check.ts';
import { type Command, UsageError } from './command.ts';
import { run } from './run.ts';
import { schema } from './schema.ts';
import { version } from './version.ts';

const commands: Readonly<Record<string, Command>> = { run, check, schema, version };
const aliases: Readonly<Record<string, string>> = { validate: 'check', '-v': 'version', '--version': 'version' };

/** Exit code for a call that cannot be understood. */
const USAGE = 2;

/** Runs one command. @returns the exit code. */
export async function main(args: readonly string[], catalogue: Catalogue): Promise<number> {
  const [first = 'help', ...rest] = args;
  if (first === 'help' || first === '-h' || first === '--help') return help(rest[0]);
  const name = aliases[first] ?? first;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    process.stderr.write(`unknown command: ${first}\n\n${overview()}`);
    return USAGE;
  }
  if (rest.includes('-h') || rest.includes('--help')) return help(name);
  try {
    return await command.run(rest, catalogue);
  } catch (error) {
    if (!(error instanceof UsageError) && !isFlagError(error)) throw error;
    process.stderr.write(`${(error as Error).message}\n\nusage: sluice ${name} ${command.usage}\n`);
    return USAGE;
  }
}

function isFlagError(error: unknown): boolean {
  return error instanceof TypeError && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
}

function help(topic: string | undefined): number {
  const command = topic === undefined ? undefined : commands[topic];
  process.stdout.write(command ? `usage: sluice ${topic} ${command.usage}\n\n${command.summary}\n` : overview());
  return 0;
}

function overview(): string {
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`);
  return `usage: sluice <command> [flags]\n\n${lines.join('\n')}\n  ${'help'.padEnd(10)}Tell how a command is used.\n`;
}
