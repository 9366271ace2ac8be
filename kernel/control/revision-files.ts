import { randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scheduler } from '../contract/internal.ts';
import { makeDirectory } from '../values/make-directory.ts';
import { parseRevision, type Revision, type RevisionSummary, summaryOf } from './revision.ts';

/** Content of a directory when it was opened. */
export interface StoredRevisions {
  readonly revisions: readonly RevisionSummary[];
  /** Highest number in use, including by damaged files; 0 without one. */
  readonly last: number;
  /** Files that are not valid revisions, each with the reason. They are left unchanged. */
  readonly skipped: readonly string[];
}

/** The revisions of one directory, one file each. Every method rejects with the file system's error. */
export interface RevisionFiles {
  find(): Promise<StoredRevisions>;
  /** Reads a revision. The promise is also rejected if the file is damaged. */
  read(number: number): Promise<Revision>;
  /** Writes a new revision atomically. @returns false if its number is in use: nothing is written then. */
  create(revision: Revision): Promise<boolean>;
  /** Rewrites a revision atomically. */
  replace(revision: Revision): Promise<void>;
  /** Removes a revision; a missing file counts as removed. */
  remove(number: number): Promise<void>;
}

/** Accessible to the gateway's own user only, because configurations contain secrets. */
const FILE_MODE = 0o600;

const NAME = /^\d{8,}\.json$/;
const TEMPORARY = /^\.\d{8,}\.[\da-f-]{36}\.tmp$/;

/** Age at which an unfinished file counts as left behind by a dead process, in milliseconds. */
const ABANDONED_MS = 3_600_000;

/** @param directory created, with its parents, on the first write. */
export function revisionFiles(directory: string): RevisionFiles {
  const nameOf = (number: number): string => `${number}`.padStart(8, '0');
  const pathOf = (number: number): string => join(directory, `${nameOf(number)}.json`);
  const read = async (number: number): Promise<Revision> =>
    parseRevision(await readFile(pathOf(number), 'utf8'), number);

  /** Writes the whole text to disk before the file gets its final name. */
  const write = async (revision: Revision, publish: (temporary: string) => Promise<boolean>): Promise<boolean> => {
    await makeDirectory(directory);
    const temporary = join(directory, `.${nameOf(revision.number)}.${randomUUID()}.tmp`);
    try {
      await writeFile(temporary, jsonOf(revision), { flag: 'wx', mode: FILE_MODE, flush: true });
      if (!(await publish(temporary))) return false;
    } finally {
      // A temporary file that cannot be removed now is removed as abandoned at a later start.
      await rm(temporary, { force: true }).catch(() => {});
    }
    await syncDirectory(directory);
    return true;
  };

  return {
    read,
    async find() {
      const revisions: RevisionSummary[] = [];
      const skipped: string[] = [];
      let last = 0;
      for (const name of await namesIn(directory)) {
        if (TEMPORARY.test(name)) {
          await removeAbandoned(join(directory, name));
        } else if (NAME.test(name)) {
          const number = Number.parseInt(name, 10);
          last = Math.max(last, number);
          try {
            revisions.push(summaryOf(await read(number)));
          } catch (error) {
            skipped.push(`${name} (${(error as Error).message})`);
          }
        } else skipped.push(`${name} (not created by the gateway)`);
      }
      return { revisions, last, skipped };
    },
    create: (revision) =>
      write(revision, async (temporary) => {
        const path = pathOf(revision.number);
        // Creates the file only if no other process has created it; hard links would have the same effect, but not
        // every volume supports them.
        try {
          await (await open(path, 'wx', FILE_MODE)).close();
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
          throw error;
        }
        try {
          await rename(temporary, path);
        } catch (error) {
          await rm(path, { force: true }).catch(() => {});
          throw error;
        }
        return true;
      }),
    async replace(revision) {
      await write(revision, async (temporary) => {
        await rename(temporary, pathOf(revision.number));
        return true;
      });
    },
    remove: (number) => rm(pathOf(number), { force: true }),
  };
}

/** Number of characters serialized at once; requests are served in between. */
const PIECE = 65_536;

/** Serializes a revision as a line of JSON, in pieces, so that requests are served in between. */
async function* jsonOf({ text, ...summary }: Revision): AsyncGenerator<string, void, undefined> {
  yield `${JSON.stringify(summary).slice(0, -1)},"text":"`;
  // A surrogate pair may be split between two pieces: its halves are then escaped separately, and joined when the file
  // is read.
  for (let at = 0; at < text.length; at += PIECE) {
    yield JSON.stringify(text.slice(at, at + PIECE)).slice(1, -1);
    await scheduler.yield();
  }
  yield '"}\n';
}

/** Lists the names in the order of their numbers; empty if the directory does not exist yet. */
async function namesIn(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Skips files that another process may be writing. */
async function removeAbandoned(path: string): Promise<void> {
  try {
    if (Date.now() - (await stat(path)).mtimeMs > ABANDONED_MS) await rm(path, { force: true });
  } catch {
    // The file no longer exists, or cannot be removed by this process; in both cases it is not a revision.
  }
}

/** Makes a rename survive a power failure, if the system supports it. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r').catch(() => null);
  // Errors are ignored: not every file system supports this, and the file has already been written and renamed.
  await handle?.sync().catch(() => {});
  await handle?.close();
}
