import type { DataObject, Flags } from '#contract';
import {
  type Document,
  demandPlain,
  editDocument,
  formatOf,
  type Migration,
  planMigration,
  readDocument,
  replaceFile,
  withoutEffect,
} from '../config/index.ts';
import { ConfigErrors } from '../contract/internal.ts';
import { configFlag, pluginsFlag } from './accepted-file.ts';
import { readArguments, UsageError } from './arguments.ts';
import { type Command, type CommandContext, colourVariables } from './command.ts';
import { requireFile } from './config-file.ts';
import { cannotWrite } from './file-errors.ts';
import { describeChange, type MendedDocument, mendDocument } from './mend-document.ts';
import { printErrors } from './report.ts';
import { type Tools, withTools } from './tools.ts';

const flags = {
  config: configFlag,
  plugins: pluginsFlag,
  output: { type: 'string', short: 'o', value: 'FILE', otherwise: 'standard output', about: 'Where the result goes.' },
  write: { type: 'boolean', default: false, about: 'Write it into the file itself.' },
} as const satisfies Flags;

/**
 * Turns a configuration of version 2, or one of version 3 with old names, into one of version 3 with present names; what
 * has no effect in the compatible product becomes a comment. Format, comments and layout stay. Exit 1, with nothing
 * written, when not everything can be migrated.
 */
export const migrate: Command = {
  usage: '[FILE] [-o FILE | --write]',
  flags,
  variables: colourVariables,
  summary: 'Bring a configuration to version 3 and its present names.',
  async run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const { output, write } = values;
    const file = requireFile(values.config, positionals, context);
    if (output !== undefined && write) throw new UsageError('-o and --write exclude each other');
    const target = write ? file : output;
    if (target !== undefined && formatOf(target) !== formatOf(file)) {
      throw new UsageError(`${target} is of another format than ${file}: the format stays`);
    }
    const migrated = await migrateFile(file, context);
    if (!migrated) return 1;
    if (target === undefined) {
      context.stdout.write(migrated.text);
      return 0;
    }
    try {
      await replaceFile(target, migrated.text);
      return 0;
    } catch (error) {
      context.stderr.write(`${cannotWrite(target, error)}\n`);
      return 1;
    }
  },
};

/** @returns null, with its mistakes printed, for a file that cannot be read or wholly migrated. */
async function migrateFile(file: string, context: CommandContext): Promise<Document | null> {
  try {
    demandPlain(file);
    return await migrateDocument(await readDocument(file), context);
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    await printErrors(context, file, error.errors);
    return null;
  }
}

/** Asks the plugins that a document names how their fields were called. */
async function planned({ data }: Document, tools: Tools): Promise<Migration> {
  return planMigration(data as DataObject, await tools.registryOf(data));
}

/** @throws ConfigErrors with everything that cannot be migrated. */
async function migrateDocument(given: Document, context: CommandContext): Promise<Document> {
  const { stderr } = context;
  const { changes, problems } = await withTools(context, (tools) => planned(given, tools));
  if (problems.length > 0) throw new ConfigErrors(problems);
  const renewed = editDocument(given, changes);
  const { document, lines, left } = await withTools(context, (tools) => silenced(renewed, tools));
  for (const change of changes) stderr.write(describeChange(given, change));
  for (const line of lines) stderr.write(line);
  if (left > 0) stderr.write(`${count(left)} left: sluice check says which\n`);
  return document;
}

/** What has no effect in the compatible product becomes a comment. */
async function silenced(given: Document, tools: Tools): Promise<MendedDocument & { readonly left: number }> {
  const reasons = new Map<string, string>();
  let left = 0;
  const find = async ({ data }: Document) => {
    const { errors } = await tools.examine(data, false);
    left = errors.length;
    const results = withoutEffect(errors, data as DataObject);
    for (const { pointer, message } of results) reasons.set(pointer, message);
    return results;
  };
  const mended = await mendDocument(given, find, (document, change) => {
    const line = describeChange(document, change).trimEnd();
    return `${line}, for KrakenD ignores it: ${reasons.get(change.pointer)}\n`;
  });
  return { ...mended, left };
}

function count(mistakes: number): string {
  return mistakes === 1 ? '1 mistake is' : `${mistakes} mistakes are`;
}
