import { ConfigError, type Flags } from '#contract';
import { type ReplayResult, readTraffic, replay as replayTraffic, type Traffic } from '../../cases/index.ts';
import { readDuration, replaceFile } from '../../config/index.ts';
import { ConfigErrors } from '../../contract/internal.ts';
import { oneOf, readArguments, UsageError } from '../arguments.ts';
import { type Command, type CommandContext, configVariables } from '../command.ts';
import { readAccepted } from '../files/accepted-differences.ts';
import { acceptFile, configFlag, pluginsFlag } from '../files/accepted-file.ts';
import { requireFile } from '../files/config-file.ts';
import { cannotWrite } from '../files/file-errors.ts';
import { printErrors } from '../formats/report.ts';
import { type ReplayReport, replayFormats } from './replay-formats.ts';
import { replayPage } from './replay-page.ts';

/** Readable by the user only, because recordings contain the data of clients. */
const FILE_MODE = 0o600;

const flags = {
  config: { ...configFlag, about: 'The new configuration, in JSON, YAML or TOML, by its extension.' },
  baseline: {
    type: 'string',
    value: 'FILE',
    otherwise: 'the recorded responses',
    about: 'Configuration to compare with. It receives the same requests and responses of backends.',
  },
  accept: {
    type: 'string',
    value: 'FILE',
    otherwise: 'no difference is accepted',
    about: 'File with accepted differences, one per line, as the text format prints them after "accept:".',
  },
  html: {
    type: 'string',
    value: 'FILE',
    otherwise: 'no page',
    about: 'Also write the result as an HTML page. A new file has mode 0600.',
  },
  slower: {
    type: 'string',
    value: 'DURATION',
    otherwise: 'times are not compared',
    about:
      'Report endpoints whose median response time, without that of backends, grows by more than this, for example 5ms. Requires --baseline.',
  },
  plugins: pluginsFlag,
  format: { type: 'string', value: 'FORMAT', default: 'text', about: 'Output format: text, json or junit.' },
} as const satisfies Flags;

/** Repeats recorded requests with a new configuration. Exit code 1 if a response differs. */
export const replay: Command = {
  usage: 'RECORDING [-c FILE]',
  flags,
  variables: configVariables,
  summary: 'Repeat recorded requests with a changed configuration, and list the differences.',
  details:
    'RECORDING is a file of sluice record, whose responses of backends answer both configurations. Exit codes: 0 no differences other than accepted ones, 1 differences or a file that is not valid, 2 usage error.',
  async run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const [recording, ...others] = positionals;
    if (recording === undefined) throw new UsageError('a recording is required: sluice replay traffic.har -c FILE');
    const print = replayFormats.get(oneOf('format', values.format, [...replayFormats.keys()]))!;
    const file = requireFile(values.config, others, context);
    const slowerMs = slowerOf(values);
    const accepted = values.accept === undefined ? new Set<string>() : readAccepted(values.accept);
    const traffic = read(recording, context);
    if (!traffic) return 1;
    if (values.baseline !== undefined && !(await acceptFile(values.baseline, context, true))) return 1;
    const plugins = values.plugins === undefined ? {} : { pluginFolder: values.plugins };
    const result = await run(traffic, { file, baseline: values.baseline ?? null, slowerMs, plugins }, context);
    if (!result) return 1;
    const changes = result.changes.filter(({ key }) => !accepted.has(key));
    const known = result.changes.filter(({ key }) => accepted.has(key));
    const report = { ...result, changes, accepted: known, file: recording };
    context.stdout.write(print(report));
    if (values.html !== undefined && !(await writePage(values.html, report, context))) return 1;
    return changes.length === 0 && result.hidden === 0 ? 0 : 1;
  },
};

/** The threshold for response times, in milliseconds. @throws UsageError. */
function slowerOf({
  slower,
  baseline,
}: {
  readonly slower?: string | undefined;
  readonly baseline?: string | undefined;
}) {
  if (slower === undefined) return undefined;
  if (baseline === undefined) throw new UsageError('--slower requires --baseline');
  const ms = readDuration(slower);
  if (ms === undefined || ms === null) throw new UsageError(`not a duration such as 5ms: ${slower}`);
  return ms;
}

async function writePage(file: string, report: ReplayReport, { stderr }: CommandContext): Promise<boolean> {
  try {
    await replaceFile(file, replayPage(report), FILE_MODE);
    return true;
  } catch (error) {
    stderr.write(`${cannotWrite(file, error)}\n`);
    return false;
  }
}

function read(recording: string, { stderr }: CommandContext): Traffic | null {
  try {
    const traffic = readTraffic(recording);
    if (traffic.requests.length > 0) return traffic;
    stderr.write(`ERROR ${recording} contains no complete recorded requests\n`);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    stderr.write(`ERROR ${error.message}\n`);
  }
  return null;
}

interface Files {
  readonly file: string;
  readonly baseline: string | null;
  readonly slowerMs: number | undefined;
  readonly plugins: { readonly pluginFolder?: string };
}

/** Runs a replay; errors of a configuration are printed. @returns null for an invalid configuration. */
async function run(
  traffic: Traffic,
  { file, baseline, slowerMs, plugins }: Files,
  context: CommandContext,
): Promise<ReplayResult | null> {
  try {
    return await replayTraffic(traffic, { catalogue: context.catalogue, source: file, baseline, slowerMs, ...plugins });
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    context.stderr.write('ERROR parsing the configuration file:\n');
    await printErrors(context, file, error.errors);
    return null;
  }
}
