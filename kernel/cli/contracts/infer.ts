import { existsSync } from 'node:fs';
import type { Flags } from '#contract';
import {
  type ContractFolder,
  type Contracts,
  collect,
  type Observation,
  observationsOfTests,
  recordedResponses,
  type Written,
  writeContracts,
} from '../../cases/index.ts';
import { parseCount, readArguments } from '../arguments.ts';
import { type Command, type CommandContext, configVariables } from '../command.ts';
import { configFlag, pluginsFlag, serveFile } from '../files/accepted-file.ts';
import { requireFile } from '../files/config-file.ts';
import { cannotWrite } from '../files/file-errors.ts';
import { contractFlags, orPrint, readFolder, runAllTests, type Sources, sourcesOf } from './sources.ts';

const flags = {
  config: { ...configFlag, about: 'Configuration that the tests run against, in JSON, YAML or TOML.' },
  ...contractFlags,
  merge: {
    type: 'boolean',
    about: 'Add the responses to existing contracts. Default: contracts of the endpoints in the traffic are replaced.',
  },
  'min-samples': {
    type: 'string',
    value: 'NUMBER',
    otherwise: '3',
    about:
      'Number of values from which a key that is always present is required, and a common format of strings is named.',
  },
  enums: {
    type: 'boolean',
    about: 'Write the values of strings that have at most 10 different values, each three times on average.',
  },
  plugins: pluginsFlag,
} as const satisfies Flags;

/** Writes contracts from recorded traffic and tests. Exit code 1 if a file is not valid, or without any response. */
export const inferCommand: Command = {
  usage: '[RECORDING | TESTS]...',
  flags,
  variables: configVariables,
  summary: 'Write JSON Schemas of what each endpoint returns, from recorded traffic or tests.',
  details:
    'A RECORDING is a .har file of sluice record. TESTS are files or folders of sluice test, ./tests by default, which run against the configuration; responses of failed tests are ignored. Contracts contain no values of the traffic, except with --enums. Exit codes: 0 contracts are written, 1 a file is not valid or contains no response of an endpoint, 2 usage error.',
  async run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const { merge = false, enums = false, contracts: folder } = values;
    const minSamples =
      values['min-samples'] === undefined ? 3 : parseCount(values['min-samples'], 'a number of samples');
    const sources = sourcesOf(positionals);
    const file = sources.tests.length > 0 ? requireFile(values.config, [], context) : null;
    const known: ContractFolder | null = existsSync(folder) ? await readFolder(folder, context) : nothing;
    const plugins = values.plugins === undefined ? {} : { pluginFolder: values.plugins };
    const observations = known && (await observe(sources, file, plugins, context));
    if (!observations) return 1;
    const inferred = collect(observations);
    if (inferred.size === 0) {
      context.stderr.write('ERROR no response of an endpoint found\n');
      return 1;
    }
    return write(folder, inferred, known, { merge, minSamples, enums }, context);
  },
};

const nothing: ContractFolder = { contracts: new Map(), files: new Map(), rejected: [] };

async function observe(
  { recordings, tests }: Sources,
  file: string | null,
  plugins: { readonly pluginFolder?: string },
  context: CommandContext,
): Promise<readonly Observation[] | null> {
  const recorded = await orPrint(() => recordings.flatMap(recordedResponses), context);
  if (!recorded || file === null) return recorded;
  const serving = await serveFile(file, context);
  const results = serving && (await runAllTests(tests, file, plugins, context));
  if (!results) return null;
  const passed = results.filter(({ failures }) => failures.length === 0);
  const ignored = results.length - passed.length;
  if (ignored > 0) {
    context.stderr.write(`WARNING ${ignored} failed ${ignored === 1 ? 'test is' : 'tests are'} ignored\n`);
  }
  return [...recorded, ...(await observationsOfTests(serving.served, passed))];
}

async function write(
  folder: string,
  inferred: Contracts,
  known: ContractFolder,
  writing: Parameters<typeof writeContracts>[3],
  { stdout, stderr }: CommandContext,
): Promise<number> {
  let written: Written;
  try {
    written = await writeContracts(folder, inferred, known, writing);
  } catch (error) {
    stderr.write(`ERROR ${cannotWrite((error as NodeJS.ErrnoException).path ?? folder, error)}\n`);
    return 1;
  }
  const { added, changed, unchanged } = written;
  for (const path of added) stdout.write(`added    ${path}\n`);
  for (const path of changed) stdout.write(`changed  ${path}\n`);
  stdout.write(`${inferred.size} ${inferred.size === 1 ? 'contract' : 'contracts'}: `);
  stdout.write(`${added.length} added, ${changed.length} changed, ${unchanged.length} unchanged\n`);
  return 0;
}
