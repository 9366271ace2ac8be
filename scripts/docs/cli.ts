import type { Catalogue } from '#contract';
import { rowsOfFlags } from '../../kernel/cli/arguments.ts';
import { allVariables, type Command } from '../../kernel/cli/command.ts';
import { usageLine } from '../../kernel/cli/help.ts';
import { allCommands } from '../../kernel/cli/main.ts';
import { code, plain, table } from './markdown.ts';

/** The page of all commands, made from their help. */
export async function cliPage(catalogue: Catalogue): Promise<string> {
  const commands = Object.entries(await allCommands({ catalogue })).flatMap(([name, command]) => each(name, command));
  const variables = Object.entries(allVariables).map(([name, meaning]) => [code(name), plain(meaning)]);
  const segments = [
    '# Command line',
    'Each command prints its help with `--help`. Unless a command says otherwise, it exits with 0 on success and with 2 on a usage error.',
    table(
      ['Command', 'What it does'],
      commands.map(([name, { summary }]) => [`[sluice ${name}](#sluice-${name.replaceAll(' ', '-')})`, plain(summary)]),
    ),
    ...commands.flatMap(([name, command]) => sectionOf(name, command)),
    '## Environment variables',
    table(['Variable', 'Meaning'], variables),
  ];
  return `${segments.join('\n\n')}\n`;
}

/** A command, or the commands of a group. Aliases are omitted. */
function each(name: string, command: Command): (readonly [name: string, command: Command])[] {
  if (command.isAlias) return [];
  if (!command.isGroup) return [[name, command]];
  return Object.entries(command.commands ?? {}).flatMap(([inner, one]) => each(`${name} ${inner}`, one));
}

function sectionOf(name: string, command: Command): string[] {
  const { summary, details, flags, commands = {} } = command;
  const usage = usageLine(name, command).replace('usage: ', '').trim();
  const rows = rowsOfFlags(flags).map(([flag, about]) => [code(flag!.trim()), plain(about!)]);
  return [
    `## sluice ${name}`,
    plain(summary),
    ...(details === undefined ? [] : [plain(details).replaceAll('\n', '\\\n')]),
    `\`\`\`text\n${usage}\n\`\`\``,
    ...(rows.length === 0 ? [] : [table(['Flag', 'Meaning'], rows)]),
    ...Object.entries(commands).flatMap(([inner, one]) => sectionOf(`${name} ${inner}`, one)),
  ];
}
