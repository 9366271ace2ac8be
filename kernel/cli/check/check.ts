import type { Flags, ServiceConfig } from '#contract';
import { readDuration, UnreadableError } from '../../config/index.ts';
import { ConfigErrors } from '../../contract/internal.ts';
import { tryUpstreams } from '../../inspect/index.ts';
import { oneOf, readArguments, UsageError } from '../arguments.ts';
import { type Command, type CommandContext, colourVariables, configVariables, tokenVariables } from '../command.ts';
import { configFlag, pluginsFlag } from '../files/accepted-file.ts';
import { requireFile } from '../files/config-file.ts';
import { counted } from '../formats/counted.ts';
import { printable } from '../formats/excerpt.ts';
import { type Findings, formats } from '../formats/index.ts';
import { showRendering } from '../formats/rendering.ts';
import { findingsOf, printFindings } from '../formats/report.ts';
import { type Checked, checkWithRunning } from '../remote/check-running.ts';
import type { AdminClient } from '../remote/client.ts';
import { converse, remoteFlags } from '../remote/connect.ts';
import { withTools } from '../tools.ts';
import { fixByExamining } from './fix.ts';
import { lintAgainst } from './lint.ts';
import { printConfig } from './print-config.ts';

const { json: _, admin, ...access } = remoteFlags;

const flags = {
  config: configFlag,
  plugins: pluginsFlag,
  'test-routes': {
    type: 'boolean',
    short: 't',
    about: 'Also read the files that the configuration names, such as certificates and keys.',
  },
  'test-gin-routes': { type: 'boolean', about: 'Alias of -t, for compatibility.' },
  connect: {
    type: 'boolean',
    about: 'Also connect to every server that the configuration names, without sending anything. Reads files like -t.',
  },
  'connect-timeout': {
    type: 'string',
    value: 'DURATION',
    otherwise: '3s',
    about: 'Timeout of each connection attempt.',
  },
  secrets: { type: 'boolean', about: 'Also fetch the secrets that the configuration refers to from their stores.' },
  lint: {
    type: 'boolean',
    short: 'l',
    about: 'Accepted for compatibility, has no effect: the file is always checked against the schema of this release.',
  },
  'lint-no-network': {
    type: 'boolean',
    short: 'n',
    about: 'Accepted for compatibility, has no effect: the check never uses the network.',
  },
  'lint-schema': {
    type: 'string',
    short: 's',
    value: 'SCHEMA',
    about: 'Check the file against this JSON Schema as well: a path or a URL.',
  },
  debug: {
    type: 'boolean',
    short: 'd',
    multiple: true,
    about: 'Print how the file is interpreted: -d, -dd or -ddd for increasing detail.',
  },
  indent: {
    type: 'string',
    short: 'i',
    value: 'SPACE',
    otherwise: 'a tab',
    about: 'Indentation of each level in the output of -d.',
  },
  format: {
    type: 'string',
    value: 'FORMAT',
    default: 'text',
    about: 'Output format: text, json, sarif (code scanning) or github (annotations).',
  },
  fix: { type: 'boolean', about: 'Fix issues that have a single possible correction, in the file, before checking.' },
  admin: {
    ...admin,
    about: 'Have the file checked by the running gateway at this admin address.',
    otherwise: 'none: the file is checked locally',
  },
  ...access,
} as const satisfies Flags;

/**
 * Validates a configuration. Plain `check`, `-l` and `-n` check everything that needs no other files and no network;
 * `-t` also reads the files that the document refers to; `--connect` also tests connections to its servers; `--secrets`
 * also fetches secrets; `-s` also validates it against a given schema. `--fix` first fixes errors with a single
 * possible correction. With `--admin`, a running gateway checks the file. Exit code 0 when it is valid, 1 when not, 3
 * when that gateway does not respond. Results go to standard output; in the text format, findings go to standard error.
 */
export const check: Command = {
  usage: '[FILE] [-t] [--connect]',
  flags,
  variables: { ...configVariables, ...tokenVariables, ...colourVariables },
  summary: 'Validate a configuration.',
  details: 'Exit codes: 0 valid, 1 invalid, 2 usage error, 3 the gateway of --admin did not respond.',
  async run(args, context) {
    const { stdout, stderr } = context;
    const { values, positionals } = readArguments(args, flags, true);
    const { debug, indent = '\t' } = values;
    const lints = [values.lint, values['lint-no-network'], values['lint-schema']].filter(Boolean);
    if (lints.length > 1) throw new UsageError('-l, -n and -s cannot be combined');
    demandFittingFlags(values);
    const format = formats.get(oneOf('format', values.format, [...formats.keys()]))!;
    const file = requireFile(values.config, positionals, context);
    const connectMs = values.connect ? connectTimeout(values['connect-timeout']) : null;
    const isReading = Boolean(values['test-routes'] || values['test-gin-routes']) || connectMs !== null;
    const within = { ...context, plugins: values.plugins };
    if (values.fix) await fixByExamining(file, within, isReading);
    const isFetching = values.secrets === true;
    const inspection = { file, context: within, isReading, isFetching, connectMs, schema: values['lint-schema'] };
    const report = async (client: AdminClient | null): Promise<number> => {
      if (format.isForPeople) stdout.write(`Parsing configuration file: ${file}\n`);
      const { findings, config, unread = [], unreported = 0, addresses } = await inspect(inspection, client);
      if (format.isForPeople) stdout.write(showRendering(findings.document?.rendering));
      if (!format.isForPeople) {
        stdout.write(format.print(findings, false));
        return exitCode(findings);
      }
      const issues = findings.errors.length + unreported;
      if (addresses !== undefined && issues > 0) {
        stderr.write(`ERROR testing the configuration file:\t${issues} of ${addresses} addresses are unreachable\n`);
      } else if (issues > 0) stderr.write(`ERROR parsing the configuration file:\t${counted(issues, 'error')}\n`);
      printFindings(context, findings);
      if (unreported > 0) stderr.write(`and ${unreported} more\n`);
      if (issues === 0 && debug && config) printConfig(stdout, config, debug.length, indent, findings.isSecret);
      if (issues === 0) stdout.write(`Syntax OK!${notLookedAt(unread)}${connectedTo(addresses)}\n`);
      return exitCode(findings);
    };
    return values.admin === undefined ? report(null) : converse({ ...values, json: false }, context, report);
  },
};

/** Checks flag combinations. @throws UsageError for flags for a running gateway without `--admin`, or the reverse. */
function demandFittingFlags(values: Readonly<Record<string, unknown>>): void {
  const isRemote = values['admin'] !== undefined;
  const others = isRemote
    ? ['fix', 'lint-schema', 'debug', 'connect', 'secrets']
    : ['admin-token-file', 'state-dir', 'ca'];
  const stray = others.find((name) => values[name] !== undefined);
  if (stray !== undefined)
    throw new UsageError(`--${stray} ${isRemote ? 'cannot be combined with' : 'requires'} --admin`);
  const { indent, debug, connect } = values;
  if (values['connect-timeout'] !== undefined && !connect) throw new UsageError('--connect-timeout requires --connect');
  if (indent !== undefined && debug === undefined) throw new UsageError('--indent requires --debug');
  if (/\S/.test(String(indent ?? ''))) throw new UsageError(`--indent must be white space, not  ${indent}`);
}

/** Default timeout per address, in milliseconds. */
const CONNECT_MS = 3000;

/** Parses the connection timeout. @throws UsageError for an invalid duration. */
function connectTimeout(text: string | undefined): number {
  const ms = text === undefined ? CONNECT_MS : readDuration(text);
  if (!ms) throw new UsageError(`not a duration such as 3s: --connect-timeout ${text}`);
  return ms;
}

/** Describes the result of `--connect`. */
function connectedTo(addresses: number | undefined): string {
  if (addresses === undefined) return '';
  return addresses === 1 ? ' 1 address is reachable.' : ` ${addresses} addresses are reachable.`;
}

function exitCode({ errors }: Findings): number {
  return errors.length === 0 ? 0 : 1;
}

/** Maximum number of files listed; the rest are counted. */
const MAX_NAMED = 5;

/** Describes the files that `check` does not read without `-t`. */
function notLookedAt(files: readonly string[]): string {
  if (files.length === 0) return '';
  const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : '';
  return ` Not checked: ${files.slice(0, MAX_NAMED).map(printable).join(', ')}${more} (check -t reads them).`;
}

interface Inspection {
  readonly file: string;
  readonly context: CommandContext;
  /** Whether to also read the files that the document refers to. */
  readonly isReading: boolean;
  /** Whether to also fetch the secrets that the document refers to. */
  readonly isFetching: boolean;
  /** Timeout for connecting to each server, in milliseconds; null to not connect. */
  readonly connectMs: number | null;
  /** Path or URL of an additional schema. */
  readonly schema: string | undefined;
}

/** Findings, with the configuration when the file was examined locally. */
interface Inspected extends Pick<Checked, 'findings'>, Partial<Pick<Checked, 'unreported'>> {
  readonly config?: ServiceConfig;
  /** Files that were not read. */
  readonly unread?: readonly string[];
  /** Number of addresses connected to, if requested. */
  readonly addresses?: number | undefined;
}

/**
 * Collects all findings in a file.
 * @param client of the gateway that checks the file; null to check locally. A file that cannot be read is not sent.
 */
async function inspect(
  { file, context, isReading, isFetching, connectMs, schema }: Inspection,
  client: AdminClient | null,
): Promise<Inspected> {
  try {
    return await withTools(context, async ({ examineFile, isSecret }) => {
      // When a gateway checks the file, this only finds the secrets to mask in excerpts.
      const examined = await examineFile(file, isReading && !client, isFetching);
      const { document, config, errors, warnings, unread, upstreams } = examined;
      if (client) return checkWithRunning(client, document, isReading, isSecret);
      const violations = schema === undefined ? [] : await lintAgainst(schema, document.data);
      const issues = [...errors, ...violations];
      // With errors, servers are not contacted, because an invalid setting may name the wrong server.
      const isTried = connectMs !== null && issues.length === 0;
      const tried = isTried ? await tryUpstreams(upstreams, connectMs) : null;
      const all = [...document.warnings, ...warnings];
      const findings = findingsOf(file, document, [...issues, ...(tried?.errors ?? [])], all, isSecret);
      return { findings, config, unread, addresses: tried?.addresses };
    });
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    return { findings: findingsOf(file, error instanceof UnreadableError ? error : null, error.errors) };
  }
}
