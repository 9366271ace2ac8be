import { ConfigErrors, type DataObject } from '#contract';
import { type Document, editDocument, formatOf, planMigration, readDocument, replaceFile } from '../config/index.ts';
import { configFlag, requireFile } from './accepted-file.ts';
import type { Command } from './command.ts';
import { cannotWrite } from './file-errors.ts';
import { describeChange } from './fix.ts';
import { type Flags, readArguments } from './flags.ts';
import { findingsOf, printErrors, printFindings } from './report.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';
import { colourVariables } from './variables.ts';

const flags = {
  config: configFlag,
  output: { type: 'string', short: 'o', value: 'FILE', otherwise: 'standard output', about: 'Where the result goes.' },
  write: { type: 'boolean', default: false, about: 'Write it into the file itself.' },
} as const satisfies Flags;

/**
 * Turns a configuration of version 2, or one of version 3 with old names, into one of version 3 with present names;
 * format, comments and layout stay. Exit 1, with nothing written, when not everything can be migrated.
 */
export const migrate: Command = {
  usage: '-c FILE [-o FILE | --write]',
  flags,
  variables: colourVariables,
  summary: 'Bring a configuration to version 3 and its present names.',
  async run(args, context) {
    const { values } = readArguments(args, flags);
    const { output, write } = values;
    const file = requireFile(values.config);
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
async function migrateFile(file: string, terminal: Terminal): Promise<Document | null> {
  try {
    return migrateDocument(await readDocument(file), terminal);
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    await printErrors(terminal, file, error.errors);
    return null;
  }
}

/** @throws ConfigErrors with everything that cannot be migrated. */
function migrateDocument(document: Document, terminal: Terminal): Document {
  const { changes, problems, notes } = planMigration(document.data as DataObject);
  printFindings(terminal, findingsOf(document.file, document, [], notes));
  if (problems.length > 0) throw new ConfigErrors(problems);
  const migrated = editDocument(document, changes);
  for (const change of changes) terminal.stderr.write(describeChange(document, change));
  return migrated;
}
