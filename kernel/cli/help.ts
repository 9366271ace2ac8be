import { rowsOfFlags } from './arguments.ts';
import { allVariables, type Command, type Variables } from './command.ts';
import { alignColumns } from './terminal.ts';

/** Formats the usage line of a command. */
export function usageLine(name: string, { usage }: Command): string {
  return `usage: ${['sluice', name, usage].filter((segment) => segment !== '').join(' ')} [FLAGS]\n`;
}

/** Formats the help of a command, with all its flags. */
export function commandHelp(name: string, command: Command): string {
  const rows = [...rowsOfFlags(command.flags), ['-h, --help', 'Print this.']];
  const { summary, details, variables } = command;
  const text = details === undefined ? summary : `${summary}\n${details}`;
  return `${usageLine(name, command)}\n${text}\n${section('Flags', rows)}${variableSection(variables)}`;
}

/** Formats the list of all commands and variables. */
export function overview(commands: Readonly<Record<string, Command>>): string {
  const rows = Object.entries(commands).flatMap(([name, command]) => rowsOf(name, command));
  rows.push(['help', 'Print the help of a command: help COMMAND, or COMMAND --help.']);
  return `usage: sluice COMMAND [FLAGS]\n${section('Commands', rows)}${variableSection(allVariables)}`;
}

function rowsOf(name: string, { summary, isAlias, isGroup, commands = {} }: Command): string[][] {
  if (isAlias) return [];
  if (!isGroup) return [[name, summary]];
  return Object.entries(commands).flatMap(([inner, command]) => rowsOf(`${name} ${inner}`, command));
}

function variableSection(variables: Variables = {}): string {
  const rows = Object.entries(variables);
  return rows.length === 0 ? '' : section('Environment variables', rows);
}

function section(title: string, rows: readonly (readonly string[])[]): string {
  const lines = alignColumns(rows).map((line) => `  ${line}\n`);
  return `\n${title}:\n${lines.join('')}`;
}
