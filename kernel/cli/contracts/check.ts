import type { Flags } from '#contract';
import {
  type CheckResult,
  type Compared,
  type Contract,
  type Contracts,
  changedSettings,
  checkContracts,
  compareTraffic,
  isBreaking,
  type Observation,
  observationsOfTests,
  readTraffic,
  removedEndpoints,
} from '../../cases/index.ts';
import { listRoutes } from '../../inspect/index.ts';
import { oneOf, readArguments } from '../arguments.ts';
import { type Command, type CommandContext, configVariables } from '../command.ts';
import { acceptFile, configFlag, pluginsFlag, serveFile } from '../files/accepted-file.ts';
import { requireFile } from '../files/config-file.ts';
import { type CheckReport, checkFormats } from './formats.ts';
import { contractFlags, orPrint, readFolder, runAllTests, type Sources, sourcesOf } from './sources.ts';

const flags = {
  config: { ...configFlag, about: 'The new configuration, in JSON, YAML or TOML, by its extension.' },
  ...contractFlags,
  baseline: {
    type: 'string',
    value: 'FILE',
    otherwise: 'the recorded responses',
    about:
      'Configuration before the change. Its responses show which optional fields and statuses the requests return.',
  },
  plugins: pluginsFlag,
  format: { type: 'string', value: 'FORMAT', default: 'text', about: 'Output format: text, json, junit or github.' },
} as const satisfies Flags;

/** Compares the responses of a configuration with contracts. Exit code 1 for a breaking change. */
export const checkCommand: Command = {
  usage: '[RECORDING | TESTS]... [-c FILE]',
  flags,
  variables: configVariables,
  summary: 'Check that a new configuration keeps the contracts of its endpoints.',
  details:
    'Sends the requests of a RECORDING (.har) or of TESTS, ./tests by default, to the configuration, whose backends respond as recorded or mocked, and compares the responses with the contracts. Removed endpoints and fields, changed types and content types, new nulls, optional fields, and statuses that clients do not expect are breaking; added fields are compatible. Exit codes: 0 no breaking change, 1 a breaking change or a file that is not valid, 2 usage error.',
  async run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const print = checkFormats.get(oneOf('format', values.format, [...checkFormats.keys()]))!;
    const sources = sourcesOf(positionals);
    const file = requireFile(values.config, [], context);
    const folder = await readFolder(values.contracts, context);
    const serving = folder && (await serveFile(file, context));
    if (!serving) return 1;
    if (folder.contracts.size === 0) {
      context.stderr.write(`ERROR ${values.contracts} contains no contracts\n`);
      return 1;
    }
    const { baseline = null } = values;
    if (baseline !== null && !(await acceptFile(baseline, context, true))) return 1;
    const plugins = values.plugins === undefined ? {} : { pluginFolder: values.plugins };
    const run = { file, baseline, plugins };
    const compared = await compare(sources, run, serving, context);
    if (!compared) return 1;
    const report = reportOf(folder.contracts, compared, file, serving);
    context.stdout.write(print(report));
    return report.differences.some(isBreaking) ? 1 : 0;
  },
};

type Serving = NonNullable<Awaited<ReturnType<typeof serveFile>>>;

type AllCompared = Omit<Awaited<ReturnType<typeof compareTraffic>>, 'replay'>;

interface Run {
  readonly file: string;
  readonly baseline: string | null;
  readonly plugins: { readonly pluginFolder?: string };
}

/** Sends all requests and collects the responses; errors are printed. @returns null after an error. */
async function compare(
  { recordings, tests }: Sources,
  run: Run,
  serving: Serving,
  context: CommandContext,
): Promise<AllCompared | null> {
  const { file: source, baseline, plugins } = run;
  const results = { before: [] as Observation[], after: [] as Observation[], masked: 0, incomplete: 0 };
  const include = ({ before, after }: Compared): void => {
    for (const observation of before) results.before.push(observation);
    for (const observation of after) results.after.push(observation);
  };
  for (const recording of recordings) {
    const options = { catalogue: context.catalogue, source, baseline, ...plugins };
    const compared = await orPrint(() => compareTraffic(readTraffic(recording), options), context);
    if (!compared) return null;
    include(compared);
    results.masked += compared.masked;
    results.incomplete += compared.incomplete;
  }
  if (tests.length === 0) return results;
  const old = baseline === null ? null : await serveFile(baseline, context);
  const before = old && (await observe(tests, run.baseline!, old, run, context));
  const after = await observe(tests, source, serving, run, context);
  if (!after || (baseline !== null && !before)) return null;
  include({ before: before ?? [], after });
  return results;
}

async function observe(
  tests: readonly string[],
  file: string,
  { served }: Serving,
  { plugins }: Run,
  context: CommandContext,
): Promise<readonly Observation[] | null> {
  const results = await runAllTests(tests, file, plugins, context);
  return results && observationsOfTests(served, results);
}

function reportOf(
  contracts: Contracts,
  compared: AllCompared,
  file: string,
  { served, positionOf }: Serving,
): CheckReport {
  const result: CheckResult = checkContracts(contracts, compared);
  const removed = removedEndpoints([...contracts.values()], served.config.endpoints);
  const names = new Set(removed.map(({ endpoint }) => endpoint));
  const compiled = changedSettings(contracts, served, (key) => !result.untested.has(key));
  const differences = [...removed, ...compiled, ...result.differences.filter(({ endpoint }) => !names.has(endpoint))];
  const routes = listRoutes(served, {}, positionOf);
  return {
    ...result,
    differences,
    contracts: contracts.size,
    untested: [...result.untested].map((key) => nameOf(contracts.get(key)!)),
    masked: compared.masked,
    incomplete: compared.incomplete,
    file,
    placeOf: (endpoint) => routes.find(({ id }) => id === endpoint),
  };
}

function nameOf({ method, endpoint }: Contract): string {
  return `${method} ${endpoint}`;
}
