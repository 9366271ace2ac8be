import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { mainName, type SourceRevision } from '#contract';
import { schemeOf } from '../../sources/address.ts';
import { MAX_BYTES, type OpenedSource, openSource } from '../../sources/open-source.ts';
import { demandUsable } from '../../sources/revision-limits.ts';
import { UsageError } from '../arguments.ts';
import type { CommandContext } from '../command.ts';

/** Time limit of a command that uses a store, in milliseconds. */
const TIMEOUT_MS = 30_000;

/** Exit code for a store that cannot be used. */
export const STORE_FAILED = 3;

/**
 * Opens the store at an address, and closes it afterwards. A failure is printed.
 * @returns the exit code: that of the task, or `STORE_FAILED`. @throws the errors of the task other than those of the store.
 */
export async function withSource(
  address: string,
  { catalogue, env, stderr }: CommandContext,
  use: (opened: OpenedSource, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  let opened: OpenedSource | null = null;
  try {
    opened = await openSource(address, { catalogue, env });
    return await use(opened, AbortSignal.timeout(TIMEOUT_MS));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    stderr.write(`ERROR ${opened === null ? '' : `${opened.shown}: `}${(error as Error).message}\n`);
    return STORE_FAILED;
  } finally {
    await opened?.source.close();
  }
}

/** Reads a revision that can be stored as files. @throws Error without one. */
export async function readUsable({ source }: OpenedSource, signal: AbortSignal): Promise<SourceRevision> {
  const revision = await source.read(signal);
  if (revision === null) throw new Error('the address has no configuration');
  demandUsable(revision, MAX_BYTES);
  return revision;
}

/** Writes files below a directory. The names are safe. */
export async function writeFiles(directory: string, files: SourceRevision['files']): Promise<void> {
  for (const [path, content] of files) {
    const target = join(directory, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await writeFile(target, content, { mode: 0o600 });
  }
}

/** Reads a file, or all files of a directory with its configuration first. @throws UsageError without one; the error of the file system. */
export async function readLocal(path: string, isDirectory: boolean): Promise<ReadonlyMap<string, Uint8Array>> {
  if (!isDirectory) return new Map([[basename(path), await readFile(path)]]);
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(path, '/').length));
  const main = mainName(names);
  if (main === undefined)
    throw new UsageError(`${path} has no configuration: name it gateway.json, .yaml, .yml or .toml`);
  const ordered = [main, ...names.filter((name) => name !== main).sort()];
  return new Map(await Promise.all(ordered.map(async (name) => [name, await readFile(join(path, name))] as const)));
}

/**
 * Makes a configuration that is at a path or in a store available as a file.
 * @returns its path and a function that removes what was created. @throws UsageError if the store cannot be used.
 */
export async function asFile(
  named: string,
  { catalogue, env }: CommandContext,
): Promise<{ readonly file: string; remove(): Promise<void> }> {
  if (schemeOf(named) === null) return { file: named, remove: async () => {} };
  const directory = await mkdtemp(join(tmpdir(), 'sluice-pull-'));
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    const opened = await openSource(named, { catalogue, env });
    try {
      const { files } = await readUsable(opened, AbortSignal.timeout(TIMEOUT_MS));
      await writeFiles(directory, files);
      return { file: join(directory, files.keys().next().value!), remove };
    } catch (error) {
      throw new UsageError(`${opened.shown}: ${(error as Error).message}`);
    } finally {
      await opened.source.close();
    }
  } catch (error) {
    await remove();
    throw error instanceof UsageError ? error : new UsageError((error as Error).message);
  }
}
