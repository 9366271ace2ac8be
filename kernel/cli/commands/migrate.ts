import type { ConfigError, DataObject, Flags } from '#contract';
import {
  type Document,
  demandPlain,
  describeEdit,
  editDocument,
  formatOf,
  type MendedDocument,
  type Migration,
  mayProtect,
  mendDocument,
  planMigration,
  readDocument,
  replaceFile,
  toVersionFour,
  type VersionFour,
  withoutEffect,
} from '../../config/index.ts';
import { ConfigErrors } from '../../contract/internal.ts';
import { readArguments, UsageError } from '../arguments.ts';
import { type Command, type CommandContext, colourVariables } from '../command.ts';
import { configFlag, pluginsFlag } from '../files/accepted-file.ts';
import { requireFile } from '../files/config-file.ts';
import { cannotWrite } from '../files/file-errors.ts';
import { counted } from '../formats/counted.ts';
import { printErrors } from '../formats/report.ts';
import { type Tools, withTools } from '../tools.ts';

const flags = {
  config: configFlag,
  plugins: pluginsFlag,
  output: {
    type: 'string',
    short: 'o',
    value: 'FILE',
    otherwise: 'standard output',
    about: 'Destination of the result.',
  },
  to: {
    type: 'string',
    value: 'VERSION',
    otherwise: 'the version of the file, 3 for version 2',
    about: 'Version of the result: 3, or 4 for KrakenD 3.0.',
  },
  write: { type: 'boolean', default: false, about: 'Overwrite the file itself.' },
} as const satisfies Flags;

/**
 * Converts a configuration of version 2, or a later one with old names, to version 3 or 4 with current names. Settings
 * that have no effect in KrakenD become comments, unless removing them could weaken protection. In version 4, names of
 * plugins become lists of plugins with their settings. Format, comments and layout are kept, except in such a list. Exit code 1, with nothing written, when it cannot be migrated completely; also 1, with
 * the result written, when errors are left in it, which are listed.
 */
export const migrate: Command = {
  usage: '[FILE] [--to VERSION] [-o FILE | --write]',
  flags,
  variables: colourVariables,
  summary: 'Convert a configuration to version 3 or 4 and current field names.',
  async run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const { output, write, to } = values;
    if (to !== undefined && !Object.hasOwn(targets, to)) throw new UsageError(`--to ${to}: the versions are 3 and 4`);
    const file = requireFile(values.config, positionals, context);
    if (output !== undefined && write) throw new UsageError('-o and --write cannot be combined');
    const target = write ? file : output;
    if (target !== undefined && formatOf(target) !== formatOf(file)) {
      throw new UsageError(`${target} must have the same format as ${file}: migrate does not convert formats`);
    }
    const result = await migrateFile(file, to === undefined ? undefined : targets[to], context);
    if (!result) return 1;
    const { document: migrated, isRight } = result;
    const code = isRight ? 0 : 1;
    if (target === undefined) {
      context.stdout.write(migrated.text);
      return code;
    }
    try {
      await replaceFile(target, migrated.text);
      return code;
    } catch (error) {
      context.stderr.write(`${cannotWrite(target, error)}\n`);
      return 1;
    }
  },
};

const targets: Readonly<Record<string, 3 | 4>> = { 3: 3, 4: 4 };

/** Maximum number of errors listed; the rest are counted. */
const MAX_LISTED = 100;

interface Migrated {
  readonly document: Document;
  /** Whether the migrated configuration has no errors. */
  readonly isRight: boolean;
}

/** Migrates a file. @returns null, after printing its errors, for one that cannot be read or completely migrated. */
async function migrateFile(file: string, to: 3 | 4 | undefined, context: CommandContext): Promise<Migrated | null> {
  try {
    demandPlain(file);
    return await migrateDocument(await readDocument(file), to, context);
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    await printErrors(context, file, error.errors);
    return null;
  }
}

/** Plans a migration with the old field names of the plugins that a document refers to. */
async function planned({ data }: Document, to: 3 | 4 | undefined, tools: Tools): Promise<Migration> {
  return planMigration(data as DataObject, await tools.registryOf(data, false), to);
}

/** @throws ConfigErrors with everything that cannot be migrated. */
async function migrateDocument(given: Document, to: 3 | 4 | undefined, context: CommandContext): Promise<Migrated> {
  const { stderr } = context;
  const { changes, problems } = await withTools(context, (tools) => planned(given, to, tools));
  if (problems.length > 0) throw new ConfigErrors(problems);
  const edited = editDocument(given, changes);
  const { document: current, renewed, left: kept } = await withTools(context, (tools) => inItsVersion(edited, tools));
  const { document, lines, left, old } = await withTools(context, (tools) => silenced(current, tools));
  for (const change of changes) stderr.write(describeEdit(given, change));
  for (const change of renewed) stderr.write(describeEdit(edited, change));
  for (const error of kept) stderr.write(leftUnchanged(edited, error));
  for (const line of lines) stderr.write(line);
  for (const issue of left.slice(0, MAX_LISTED)) stderr.write(issue);
  if (left.length > 0) stderr.write(`${count(left.length)} left: run sluice check to see how to correct them\n`);
  for (const plugin of old.slice(0, MAX_LISTED)) stderr.write(plugin);
  if (changes.length + renewed.length + kept.length + lines.length + left.length + old.length === 0) {
    stderr.write(`${given.file}: nothing to migrate\n`);
  }
  return { document, isRight: left.length === 0 };
}

/** Rewrites components that have another form in version 4, if the document has version 4. */
async function inItsVersion(document: Document, tools: Tools): Promise<VersionFour> {
  const { data } = document;
  if ((data as DataObject)['version'] !== 4) return { document, renewed: [], left: [] };
  return toVersionFour(document, await tools.registryOf(data, false));
}

interface Silenced extends MendedDocument {
  /** Describes the errors that remain after a migration, one per line. */
  readonly left: readonly string[];
  /**
   * Describes the plugins and removed components of KrakenD that only the author of the file can replace, one per line.
   */
  readonly old: readonly string[];
}

/** Comments out settings that have no effect in KrakenD, and describes each change. */
async function silenced(given: Document, tools: Tools): Promise<Silenced> {
  const reasons = new Map<string, string>();
  let issues: readonly ConfigError[] = [];
  let plugins: readonly ConfigError[] = [];
  const find = async ({ data }: Document) => {
    const { errors, warnings, registry } = await tools.examine(data, false);
    issues = errors;
    plugins = warnings.filter(({ code }) => code === 'CONFIG_OLD_PLUGIN' || code === 'CONFIG_REMOVED');
    const results = withoutEffect(errors, data as DataObject, registry);
    for (const { pointer, message } of results) reasons.set(pointer, message);
    return results;
  };
  const mended = await mendDocument(given, find, (document, change) => {
    const line = describeEdit(document, change).trimEnd();
    return `${line}, because KrakenD ignores it: ${reasons.get(change.pointer)}\n`;
  });
  const describe = (error: ConfigError) => describeLeft(mended.document, error, tools.registry);
  return { ...mended, left: issues.map(describe), old: plugins.map(describe) };
}

function describeLeft(document: Document, error: ConfigError, registry: Tools['registry']): string {
  const why = mayProtect(error, registry) ? ' (not commented out, because that could weaken protection)' : '';
  return leftUnchanged(document, error, why);
}

function leftUnchanged(document: Document, { pointer, message }: ConfigError, why = ''): string {
  const position = document.locate(pointer, 'key') ?? document.locate(pointer, 'value');
  const where = position ? `${position.file ?? document.file}:${position.line}:${position.column}` : document.file;
  return `${where}: left unchanged: ${message}${why}\n`;
}

function count(issues: number): string {
  return `${counted(issues, 'error')} ${issues === 1 ? 'is' : 'are'}`;
}
