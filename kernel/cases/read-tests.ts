import { open, opendir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { ConfigError, copyData, type Data, isObject } from '#contract';
import { compileSchema, type Document, decodeText, parseDocument, UnreadableError } from '../config/index.ts';
import { ConfigErrors, fileErrorReason } from '../contract/internal.ts';
import { compileMocks, compileTest } from './compile-test.ts';
import type { Mock } from './mock.ts';
import { readRecording } from './recording.ts';
import { type FileData, fileSchema, type SpecData, specSchema } from './schema.ts';
import { compileSpec } from './spec.ts';
import type { Test } from './test.ts';

/** Maximum size of a file with tests, in bytes. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

/** Maximum number of files, and of nested folders. */
const MAX_FILES = 10_000;
const MAX_DEPTH = 20;

const extensions = new Set(['.json', '.yaml', '.yml']);

/** The tests of one file. */
export interface TestFile {
  readonly path: string;
  readonly document: Document;
  /** Whether it is a spec of KrakenD: specs of one run share a gateway. */
  readonly isSpec: boolean;
  readonly mocks: readonly Mock[];
  readonly tests: readonly Test[];
}

/** A file that cannot be used, with its errors. */
export interface RejectedFile {
  readonly path: string;
  /** Parsed file, or the reason why it cannot be parsed; null if the file cannot be read. */
  readonly source: Document | UnreadableError | null;
  readonly errors: readonly ConfigError[];
}

/**
 * Finds the files with tests: given files, and files in JSON and YAML below given folders, without hidden ones, sorted
 * by path. Symbolic links in folders are not followed.
 * @throws ConfigErrors TEST_FILES if a path cannot be read, or if there are too many.
 */
export async function findFiles(paths: readonly string[]): Promise<string[]> {
  const results: string[] = [];
  for (const path of paths) {
    try {
      if ((await stat(path)).isDirectory()) await findIn(path, results, MAX_DEPTH);
      else results.push(path);
    } catch (error) {
      if (error instanceof ConfigErrors) throw error;
      throw refused(`cannot read ${path}: ${fileErrorReason(error)}`);
    }
  }
  return [...new Set(results)];
}

async function findIn(folder: string, results: string[], depth: number): Promise<void> {
  if (depth === 0) throw refused(`folders are nested more than ${MAX_DEPTH} levels: ${folder}`);
  const entries: { readonly path: string; readonly isFolder: boolean }[] = [];
  for await (const entry of await opendir(folder)) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) entries.push({ path, isFolder: true });
    else if (entry.isFile() && extensions.has(extname(entry.name).toLowerCase()))
      entries.push({ path, isFolder: false });
    if (entries.length + results.length > MAX_FILES) throw refused(`more than ${MAX_FILES} files: ${folder}`);
  }
  entries.sort((one, other) => (one.path < other.path ? -1 : 1));
  for (const { path, isFolder } of entries) {
    if (isFolder) await findIn(path, results, depth - 1);
    else results.push(path);
  }
}

function refused(message: string): ConfigErrors {
  return new ConfigErrors([new ConfigError('TEST_FILES', '', message)]);
}

/** Reads and compiles the tests of a file. */
export async function readTests(path: string): Promise<TestFile | RejectedFile> {
  let document: Document;
  try {
    document = parseDocument(decodeText(await readBounded(path), path), path);
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    return { path, source: error instanceof UnreadableError ? error : null, errors: error.errors };
  }
  try {
    return { path, document, ...compile(document, path) };
  } catch (error) {
    if (!(error instanceof ConfigErrors || error instanceof ConfigError)) throw error;
    return { path, source: document, errors: error instanceof ConfigError ? [error] : error.errors };
  }
}

async function readBounded(path: string): Promise<Uint8Array> {
  try {
    await using handle = await open(path);
    const { size } = await handle.stat();
    if (size > MAX_FILE_BYTES) throw new Error(`exceeds ${MAX_FILE_BYTES / 1024 / 1024} MiB`);
    return await handle.readFile();
  } catch (cause) {
    const message = `cannot read ${path}: ${fileErrorReason(cause)}`;
    throw new ConfigErrors([new ConfigError('TEST_FILES', '', message, { cause })]);
  }
}

function compile({ data }: Document, path: string): Pick<TestFile, 'isSpec' | 'mocks' | 'tests'> {
  const isSpec = isObject(data) && Object.hasOwn(data, 'in') && !Object.hasOwn(data, 'tests');
  const { value, errors } = compileSchema(isSpec ? specSchema : fileSchema)(copyData(data as Data), '');
  if (errors.length > 0) throw new ConfigErrors(errors);
  if (isSpec) {
    const name = basename(path, extname(path));
    return { isSpec, mocks: [], tests: collect([value as SpecData], (spec) => compileSpec(spec, name)) };
  }
  const { backends, recordings, tests } = value as FileData;
  const recorded = recordings.flatMap((name, at) => readRecording(resolve(dirname(path), name), `/recordings/${at}`));
  const mocks = [...compileMocks(backends), ...recorded];
  const written = (data as { tests: readonly object[] }).tests;
  const compiled = collect(tests, (test, at) =>
    compileTest(test, `/tests/${at}`, mocks, Object.hasOwn(written[at]!, 'expect')),
  );
  return { isSpec, mocks, tests: compiled };
}

/** Compiles all entries. @throws ConfigErrors with all errors. */
function collect<T>(entries: readonly T[], make: (entry: T, at: number) => Test): Test[] {
  const errors: ConfigError[] = [];
  const tests = entries.flatMap((entry, at) => {
    try {
      return [make(entry, at)];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      errors.push(error);
      return [];
    }
  });
  if (errors.length > 0) throw new ConfigErrors(errors);
  return tests;
}
