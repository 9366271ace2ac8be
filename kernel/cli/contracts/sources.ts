import { existsSync } from 'node:fs';
import { ConfigError, type Flags } from '#contract';
import {
  type ContractFolder,
  findFiles,
  type RejectedFile,
  readContracts,
  readTests,
  runSuite,
  type TestFile,
  type TestResult,
} from '../../cases/index.ts';
import { ConfigErrors } from '../../contract/internal.ts';
import { UsageError } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { findingsOf, printFindings } from '../formats/report.ts';

/** Flags of every command that reads contracts. */
export const contractFlags = {
  contracts: {
    type: 'string',
    value: 'DIRECTORY',
    default: 'contracts',
    about: 'Folder of contracts, with one file for each endpoint and method.',
  },
} as const satisfies Flags;

/** Recordings and tests whose requests are used. */
export interface Sources {
  readonly recordings: readonly string[];
  readonly tests: readonly string[];
}

/** Separates recordings, by their extension `.har`, from files and folders of tests. @throws UsageError without any. */
export function sourcesOf(paths: readonly string[]): Sources {
  const given = paths.length === 0 && existsSync('tests') ? ['tests'] : paths;
  if (given.length === 0) {
    throw new UsageError('no requests: name a recording such as traffic.har, or files or folders of tests');
  }
  const isRecording = (path: string) => path.toLowerCase().endsWith('.har');
  return { recordings: given.filter(isRecording), tests: given.filter((path) => !isRecording(path)) };
}

/** Prints files that cannot be used. */
export function printRejected(rejected: readonly RejectedFile[], context: CommandContext): void {
  for (const { path, source, errors } of rejected) printFindings(context, findingsOf(path, source, errors));
}

/** Reads the contracts of a folder; errors are printed. @returns null if the folder or a file is not valid. */
export async function readFolder(folder: string, context: CommandContext): Promise<ContractFolder | null> {
  const read = await orPrint(() => readContracts(folder), context);
  if (!read) return null;
  printRejected(read.rejected, context);
  return read.rejected.length > 0 ? null : read;
}

/** Runs the tests of files and folders; errors are printed. @returns null if a file is not valid. */
export async function runAllTests(
  paths: readonly string[],
  file: string,
  plugins: { readonly pluginFolder?: string },
  context: CommandContext,
): Promise<readonly TestResult[] | null> {
  const read = await orPrint(async () => {
    const files: (TestFile | RejectedFile)[] = [];
    for (const path of await findFiles(paths)) files.push(await readTests(path));
    return files;
  }, context);
  if (!read) return null;
  const rejected = read.filter((each): each is RejectedFile => 'errors' in each);
  printRejected(rejected, context);
  if (rejected.length > 0) return null;
  const files = read.filter((each): each is TestFile => !('errors' in each));
  const options = { catalogue: context.catalogue, source: file, against: null, ...plugins };
  return (await runSuite(files, options)).results;
}

/** Runs a function; its ConfigErrors are printed. @returns null after an error. */
export async function orPrint<T>(run: () => T | Promise<T>, { stderr }: CommandContext): Promise<T | null> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ConfigErrors || error instanceof ConfigError)) throw error;
    const errors = error instanceof ConfigErrors ? error.errors : [error];
    for (const { message } of errors) stderr.write(`ERROR ${message}\n`);
    return null;
  }
}
