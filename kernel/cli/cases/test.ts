import { existsSync } from 'node:fs';
import type { Flags, Pattern } from '#contract';
import { createPatterns } from '../../patterns/patterns.ts';
import { type Arguments, oneOf, readArguments, UsageError } from '../arguments.ts';
import { type Command, type CommandContext, colourVariables, configVariables } from '../command.ts';
import { configFlag, pluginsFlag } from '../files/accepted-file.ts';
import { requireFile } from '../files/config-file.ts';
import { testFormats } from './formats.ts';
import { parseAddress, runOnce, type TestRun } from './run-once.ts';
import { runOnChanges } from './watch.ts';

const flags = {
  config: { ...configFlag, about: 'Configuration file in JSON, YAML or TOML, by its extension.' },
  plugins: pluginsFlag,
  grep: {
    type: 'string',
    short: 'g',
    value: 'EXPRESSION',
    otherwise: 'all tests',
    about: 'Run only tests whose name matches this regular expression, in RE2 syntax.',
  },
  watch: {
    type: 'boolean',
    short: 'w',
    about: 'Run the tests again after each change of the tests or the configuration.',
  },
  update: {
    type: 'boolean',
    short: 'u',
    about: 'Write the responses of today into the files as expectations. Comments and layout remain.',
  },
  against: {
    type: 'string',
    value: 'URL',
    otherwise: 'none: the configuration runs in this process',
    about:
      'Send the requests to a running gateway. Servers are not mocked, and expectations of their calls are not checked.',
  },
  network: {
    type: 'boolean',
    about: 'Send requests that no mock answers to their servers, and permit connections of other protocols.',
  },
  debug: { type: 'boolean', short: 'd', about: 'Serve the endpoints below /__debug/.' },
  format: {
    type: 'string',
    value: 'FORMAT',
    default: 'text',
    about: 'Output format: text, json, junit or github (annotations).',
  },
  coverage: { type: 'boolean', about: 'List all endpoints and components without a test.' },
} as const satisfies Flags;

type Values = Arguments<typeof flags>['values'];

/**
 * Runs tests against a configuration whose servers are mocked, or against a running gateway. Exit code 0 when all pass,
 * 1 when one fails, or a file is not valid.
 */
export const test: Command = {
  usage: '[PATH]... [-c FILE]',
  flags,
  variables: { ...configVariables, ...colourVariables },
  summary: 'Run tests against a configuration, with mocked servers.',
  details:
    'Without a PATH, the folder ./tests is used. Exit codes: 0 all tests pass, 1 a test fails or a file is not valid, 2 usage error.',
  run: (args, context) => runTests(args, context, 'tests', false),
};

/**
 * The command `e2e`, which KrakenD also has: like `test`, with KrakenD's folder of specs, and real servers for requests
 * without a mock.
 */
export const e2e: Command = {
  ...test,
  summary: 'Run end-to-end specs against a configuration. Requests without a mock are sent to their servers.',
  details:
    'Alias of sluice test --network. Without a PATH, the folder ./specs is used. Exit codes: 0 all tests pass, 1 a test fails or a file is not valid, 2 usage error.',
  run: (args, context) => runTests(args, context, 'specs', true),
};

async function runTests(
  args: string[],
  context: CommandContext,
  folder: string,
  usesNetwork: boolean,
): Promise<number> {
  const { values, positionals } = readArguments(args, flags, true);
  const { against, watch: isWatching = false, coverage: listsUntested = false, update: isUpdating = false } = values;
  if (against !== undefined) demandFittingFlags(values);
  if (positionals.length === 0 && !existsSync(folder)) {
    throw new UsageError(`no tests: the working directory has no folder "${folder}"`);
  }
  const paths = positionals.length > 0 ? positionals : [folder];
  const file = against === undefined ? requireFile(values.config, [], context) : null;
  const run: TestRun = {
    paths,
    file,
    against: against === undefined ? null : parseAddress(against),
    network: values.network ?? usesNetwork,
    grep: values.grep === undefined ? null : compileGrep(values.grep),
    isUpdating,
    listsUntested,
    print: testFormats.get(oneOf('format', values.format, [...testFormats.keys()]))!,
    ...(values.debug && { debug: true }),
    ...(values.plugins !== undefined && { pluginFolder: values.plugins }),
  };
  if (!isWatching) return runOnce(run, context);
  await runOnChanges(file === null ? paths : [...paths, file], context, () => runOnce(run, context));
  return 0;
}

function demandFittingFlags(values: Values): void {
  const stray = (['config', 'plugins', 'network', 'debug', 'coverage'] as const).find(
    (name) => values[name] !== undefined,
  );
  if (stray !== undefined) throw new UsageError(`--${stray} cannot be combined with --against`);
}

function compileGrep(source: string): Pattern {
  try {
    return createPatterns().compile(source);
  } catch (error) {
    throw new UsageError(`--grep ${source}: ${(error as Error).message}`);
  }
}
