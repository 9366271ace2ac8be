import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Attack, AttackCatalogue, DataObject, Flags, Severity } from '#contract';
import { type AttackResult, attackConfiguration, type Finding, showRequest } from '../../attack/index.ts';
import { ConfigErrors, severities } from '../../contract/internal.ts';
import { positionsIn } from '../../inspect/index.ts';
import { secretsKnownTo } from '../../registry/secrets.ts';
import { type Arguments, oneOf, readArguments, UsageError, unknownWord } from '../arguments.ts';
import { type Command, type CommandContext, colourVariables, configVariables } from '../command.ts';
import { type Accepted, acceptFile, configFlag, pluginsFlag } from '../files/accepted-file.ts';
import { requireFile } from '../files/config-file.ts';
import { cannotRead } from '../files/file-errors.ts';
import { printErrors } from '../formats/report.ts';
import { alignColumns } from '../terminal.ts';
import { attackFormats } from './formats.ts';
import type { AttackReport, PlacedFinding } from './report.ts';

const flags = {
  config: configFlag,
  plugins: pluginsFlag,
  endpoint: {
    type: 'string',
    short: 'e',
    value: 'TEXT',
    otherwise: 'all endpoints',
    about: 'Attack only endpoints whose method and path contain this text, for example "GET /users".',
  },
  only: { type: 'string', value: 'NAMES', otherwise: 'all attacks', about: 'Attacks to run, separated by commas.' },
  skip: {
    type: 'string',
    value: 'NAMES',
    default: '',
    otherwise: 'none',
    about: 'Attacks to omit, separated by commas.',
  },
  list: { type: 'boolean', about: 'List all attacks with their severity, and exit.' },
  accept: {
    type: 'string',
    value: 'FILE',
    otherwise: 'no finding is accepted',
    about: 'File with accepted findings, one per line, as the text format prints them after "accept:", with a reason.',
  },
  'fail-on': {
    type: 'string',
    value: 'SEVERITY',
    default: 'low',
    about: 'Lowest severity for which the command fails: low, medium, high or critical.',
  },
  minutes: {
    type: 'string',
    value: 'NUMBER',
    default: '10',
    about: 'Time after which no further attack begins, in minutes.',
  },
  seed: {
    type: 'string',
    value: 'NUMBER',
    otherwise: 'a random number, which is printed',
    about: 'Seed of the texts that attacks use. The same seed repeats the same requests.',
  },
  format: { type: 'string', value: 'FORMAT', default: 'text', about: 'Output format: text, json, junit or github.' },
} as const satisfies Flags;

type Values = Arguments<typeof flags>['values'];

/**
 * Attacks a configuration in a sandbox. Exit code 1 for findings of at least the severity in `--fail-on`, for attacks
 * that did not run within the time, and for a file that is not valid.
 */
export const attack: Command = {
  usage: '[FILE]',
  flags,
  variables: { ...configVariables, ...colourVariables },
  summary: 'Attack a configuration in a sandbox, and show its weaknesses with the requests that use them.',
  details:
    'The gateway runs in this process with mocked backends, and connects to nothing. Exit codes: 0 no findings, 1 findings, attacks that did not run within the time, or a file that is not valid, 2 usage error.',
  async run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const known = (await context.catalogue.attack?.())?.catalogue;
    if (!known) throw new UsageError('this catalog of plugins has no attacks');
    if (values.list) {
      context.stdout.write(listing(known));
      return 0;
    }
    const options = readOptions(values, known);
    const file = requireFile(values.config, positionals, context);
    const accepted = await acceptFile(file, { ...context, plugins: values.plugins }, true);
    if (!accepted) return 1;
    const result = await run(accepted, file, known, options, context);
    if (!result) return 1;
    const report = reportOf(result, accepted, file, options);
    context.stdout.write(options.print(report, context));
    return report.unfinished > 0 || report.findings.some(options.isFailure) ? 1 : 0;
  },
};

interface Options {
  readonly isWanted: (attack: Attack) => boolean;
  readonly endpoint: string;
  readonly accepted: ReadonlySet<string>;
  readonly isFailure: (finding: { readonly severity: Severity }) => boolean;
  readonly limitMs: number;
  readonly seed: number;
  readonly pluginFolder: string | undefined;
  readonly print: NonNullable<ReturnType<typeof attackFormats.get>>;
}

/** @throws UsageError. */
function readOptions(values: Values, { attacks }: AttackCatalogue): Options {
  const names = attacks.map(({ name }) => name);
  const only = values.only === undefined ? names : listOf(values.only, names);
  const skipped = listOf(values.skip, names);
  const words = severities.map((word) => word.toLowerCase());
  const lowest = words.indexOf(oneOf('severity', values['fail-on'].toLowerCase(), words));
  return {
    isWanted: ({ name }) => only.includes(name) && !skipped.includes(name),
    endpoint: values.endpoint ?? '',
    accepted: values.accept === undefined ? new Set() : readAccepted(values.accept),
    isFailure: ({ severity }) => severities.indexOf(severity) <= lowest,
    limitMs: numberOf('minutes', values.minutes) * 60_000,
    seed: values.seed === undefined ? randomInt(1_000_000_000) : numberOf('seed', values.seed),
    pluginFolder: values.plugins,
    print: attackFormats.get(oneOf('format', values.format, [...attackFormats.keys()]))!,
  };
}

function listOf(text: string, names: readonly string[]): string[] {
  const listed = text.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
  const stray = listed.find((name) => !names.includes(name));
  if (stray !== undefined) throw unknownWord('attack', stray, names);
  return listed;
}

function numberOf(flag: string, text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !(number >= 0)) throw new UsageError(`--${flag} must be a number, not "${text}"`);
  return number;
}

/** Reads accepted findings: `NAME ENDPOINT  # reason`. @throws UsageError for a line without a reason. */
function readAccepted(file: string): Set<string> {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(cannotRead(file, error));
  }
  const keys = new Set<string>();
  for (const [at, line] of content.split(/\r?\n/).entries()) {
    const mark = line.indexOf('#');
    const key = line.slice(0, mark < 0 ? undefined : mark).trim();
    if (key === '') continue;
    if (mark < 0 || line.slice(mark + 1).trim() === '') {
      throw new UsageError(`${file}:${at + 1}: the accepted finding "${key}" has no reason: add one after "#"`);
    }
    keys.add(key);
  }
  return keys;
}

function listing({ attacks }: AttackCatalogue): string {
  const rows = attacks.map(({ name, severity, title }) => [name, severity.toLowerCase(), title]);
  return `${alignColumns(rows).join('\n')}\n`;
}

/** Runs the attacks; errors that only the sandbox finds are printed. @returns null for an invalid configuration. */
async function run(
  { document, config, compiled, registry }: Accepted,
  file: string,
  attacks: AttackCatalogue,
  { isWanted, endpoint: part, seed, limitMs, pluginFolder }: Options,
  context: CommandContext,
): Promise<AttackResult | null> {
  try {
    return await attackConfiguration({
      catalogue: context.catalogue,
      attacks,
      document: document.data as DataObject,
      served: { config, compiled },
      known: registry,
      isSecret: secretsKnownTo(registry),
      isWanted,
      isTarget: ({ id }) => id.includes(part),
      seed,
      limitMs,
      ...(pluginFolder !== undefined && { sandbox: { pluginFolder } }),
    });
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    context.stderr.write('ERROR parsing the configuration file:\n');
    await printErrors(context, file, error.errors);
    return null;
  }
}

function reportOf(
  { shown, findings, ...result }: AttackResult,
  { document, config, origin }: Accepted,
  file: string,
  { accepted, seed }: Options,
): AttackReport {
  const position = positionsIn(document);
  const address = new URL(`http://localhost:${config.port}`);
  const placed = findings.map(
    (finding: Finding): PlacedFinding => ({
      ...finding,
      ...position(origin(finding.pointer)),
      requests: finding.requests.map((request) => showRequest(request, address, shown)),
      key: `${finding.attack} ${finding.endpoint}`,
    }),
  );
  return {
    ...result,
    file,
    seed,
    findings: placed.filter(({ key }) => !accepted.has(key)),
    accepted: placed.filter(({ key }) => accepted.has(key)),
  };
}
