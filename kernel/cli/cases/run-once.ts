import { ConfigError, type Pattern } from '#contract';
import {
  findFiles,
  isUpdatable,
  type RejectedFile,
  readTests,
  runSuite,
  type SuiteOptions,
  type SuiteResult,
  type TestFile,
  type TestResult,
  updateFile,
} from '../../cases/index.ts';
import { ConfigErrors } from '../../contract/internal.ts';
import { UsageError } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { findingsOf, printErrors, printFindings } from '../formats/report.ts';
import { isPassed, type PrintReport, type TestReport } from './test-report.ts';

/** The tests of one run, and the form of their report. */
export interface TestRun extends Omit<SuiteOptions, 'catalogue' | 'source'> {
  readonly paths: readonly string[];
  /** The configuration file; null for tests against an address. */
  readonly file: string | null;
  readonly grep: Pattern | null;
  readonly isUpdating: boolean;
  readonly listsUntested: boolean;
  readonly print: PrintReport;
}

/** Runs the tests once and prints their report. @returns the exit code. */
export async function runOnce(run: TestRun, context: CommandContext): Promise<number> {
  const { paths, file, grep, isUpdating, listsUntested, print, ...options } = run;
  const read = await readAll(paths, context);
  if (!read) return 1;
  const rejected = read.filter((each): each is RejectedFile => 'errors' in each);
  const files = read
    .filter((each): each is TestFile => !('errors' in each))
    .map((each) => ({ ...each, tests: each.tests.filter(({ name }) => grep?.test(name) ?? true) }))
    .filter(({ tests }) => tests.length > 0);
  for (const { path, source, errors } of rejected) printFindings(context, findingsOf(path, source, errors));
  if (files.length + rejected.length === 0) {
    context.stderr.write(`ERROR no tests found in ${paths.join(', ')}${grep ? ` for --grep ${grep.source}` : ''}\n`);
    return 1;
  }
  const suite = await runAll(files, { ...options, catalogue: context.catalogue, source: file ?? '' }, file, context);
  if (!suite) return 1;
  const updated = isUpdating ? await updateAll(files, suite, context) : null;
  const report: TestReport = { ...suite, files, rejected, updated, listsUntested };
  context.stdout.write(print(report, context));
  const hasPassed = suite.results.every((result) => isPassed(result) || (isUpdating && isMetNow(result)));
  return hasPassed && rejected.length === 0 ? 0 : 1;
}

/** Whether all unmet expectations of a test were updated. */
function isMetNow(result: TestResult): boolean {
  return isUpdatable(result) && result.failures.every(({ actual }) => actual !== undefined);
}

/** Reads all files. @returns null after an error that was printed. */
async function readAll(paths: readonly string[], { stderr }: CommandContext) {
  try {
    const found = await findFiles(paths);
    const results: (TestFile | RejectedFile)[] = [];
    for (const path of found) results.push(await readTests(path));
    return results;
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    for (const { message } of error.errors) stderr.write(`ERROR ${message}\n`);
    return null;
  }
}

async function runAll(
  files: readonly TestFile[],
  options: SuiteOptions,
  file: string | null,
  context: CommandContext,
): Promise<SuiteResult | null> {
  try {
    return await runSuite(files, options);
  } catch (error) {
    if (!(error instanceof ConfigErrors) || file === null) throw error;
    context.stderr.write('ERROR parsing the configuration file:\n');
    await printErrors(context, file, error.errors);
    return null;
  }
}

async function updateAll(
  files: readonly TestFile[],
  { results }: SuiteResult,
  { stderr }: CommandContext,
): Promise<number> {
  let count = 0;
  const byFile = Map.groupBy(results, ({ file }) => file);
  for (const file of files) {
    try {
      count += await updateFile(file, byFile.get(file) ?? []);
    } catch (error) {
      const errors = error instanceof ConfigErrors ? error.errors : [new ConfigError('TEST_FILES', '', String(error))];
      for (const { message } of errors) stderr.write(`ERROR cannot update ${file.path}: ${message}\n`);
    }
  }
  return count;
}

/** Parses the address of `--against`. @throws UsageError. */
export function parseAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new UsageError(`not an HTTP address such as http://localhost:8080: --against ${text}`);
}
