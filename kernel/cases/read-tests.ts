import { open, opendir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { ConfigError, type Data } from '#contract';
import { type Document, decodeText, parseDocument, UnreadableError } from '../config/index.ts';
import { ConfigErrors, fileErrorReason } from '../contract/internal.ts';
import { type CompiledFile, compileFile } from './compile-file.ts';

/** Maximum size of a file with tests, in bytes. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

/** Maximum number of files, and of nested folders. */
const MAX_FILES = 10_000;
const MAX_DEPTH = 20;

const extensions = new Set(['.json', '.yaml', '.yml']);

/** The tests of one file. */
export interface TestFile extends CompiledFile {
  readonly path: string;
  readonly document: Document;
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
export function readTests(path: string): Promise<TestFile | RejectedFile> {
  return readCompiled(path, compileFile);
}

/** Reads a file in JSON or YAML, and compiles its data. @param compile throws ConfigErrors or ConfigError for invalid data. */
export async function readCompiled<T extends object>(
  path: string,
  compile: (data: Data, path: string) => T,
): Promise<(T & { readonly path: string; readonly document: Document }) | RejectedFile> {
  let document: Document;
  try {
    document = parseDocument(decodeText(await readBounded(path), path), path);
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    return { path, source: error instanceof UnreadableError ? error : null, errors: error.errors };
  }
  try {
    return { path, document, ...compile(document.data as Data, path) };
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
