import { randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scheduler } from '../contract/internal.ts';
import { makeDirectory } from './make-directory.ts';
import { parseRevision, type Revision, type RevisionSummary, summaryOf } from './revision.ts';

/** What a directory held when it was opened. */
export interface StoredRevisions {
  readonly revisions: readonly RevisionSummary[];
  /** Highest number that is taken, by a damaged file too; 0 when there is none. */
  readonly last: number;
  /** Files that are no revisions, each with why. They are left as they are. */
  readonly skipped: readonly string[];
}

/** The revisions of one directory, one file each. Everything rejects with what the file system says. */
export interface RevisionFiles {
  find(): Promise<StoredRevisions>;
  /** Rejects also when the file is damaged. */
  read(number: number): Promise<Revision>;
  /** Writes a new revision, wholly or not at all. @returns false when its number is taken: nothing is written then. */
  create(revision: Revision): Promise<boolean>;
  /** Writes a revision anew, wholly or not at all. */
  replace(revision: Revision): Promise<void>;
  /** A file that is not there is as good as removed. */
  remove(number: number): Promise<void>;
}

/** Only the gateway's own user may look: configurations hold secrets. */
const FILE_MODE = 0o600;

const NAME = /^\d{8,}\.json$/;
const TEMPORARY = /^\.\d{8,}\.[\da-f-]{36}\.tmp$/;

/** An unfinished file as old as this, in milliseconds, was left behind by a process that died. */
const ABANDONED_MS = 3_600_000;

/** @param directory made, with its parents, when something is to be written. */
export function revisionFiles(directory: string): RevisionFiles {
  const nameOf = (number: number): string => `${number}`.padStart(8, '0');
  const pathOf = (number: number): string => join(directory, `${nameOf(number)}.json`);
  const read = async (number: number): Promise<Revision> =>
    parseRevision(await readFile(pathOf(number), 'utf8'), number);

  /** Puts the whole text on the disk before it gets its name. */
  const write = async (revision: Revision, publish: (temporary: string) => Promise<boolean>): Promise<boolean> => {
    await makeDirectory(directory);
    const temporary = join(directory, `.${nameOf(revision.number)}.${randomUUID()}.tmp`);
    try {
      await writeFile(temporary, jsonOf(revision), { flag: 'wx', mode: FILE_MODE, flush: true });
      if (!(await publish(temporary))) return false;
    } finally {
      await rm(temporary, { force: true });
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
        // Of several processes one alone makes the file; hard links would do the same, but not every volume has them.
        try {
          await (await open(path, 'wx', FILE_MODE)).close();
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
          throw error;
        }
        try {
          await rename(temporary, path);
        } catch (error) {
          await rm(path, { force: true });
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

/** Characters of a configuration that are made ready for the disk at once: requests are served meanwhile. */
const PIECE = 65_536;

/** A revision as a line of JSON, in pieces, between which requests have their time. */
async function* jsonOf({ text, ...summary }: Revision): AsyncGenerator<string, void, undefined> {
  yield `${JSON.stringify(summary).slice(0, -1)},"text":"`;
  // Halves of a character are escaped, each by itself, and are one again when they are read.
  for (let at = 0; at < text.length; at += PIECE) {
    yield JSON.stringify(text.slice(at, at + PIECE)).slice(1, -1);
    await scheduler.yield();
  }
  yield '"}\n';
}

/** In the order of their numbers; none when there is no directory yet. */
async function namesIn(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Leaves alone what another process may be writing this moment. */
async function removeAbandoned(path: string): Promise<void> {
  try {
    if (Date.now() - (await stat(path)).mtimeMs > ABANDONED_MS) await rm(path, { force: true });
  } catch {
    // It is gone already, or not ours to remove; either way it is no revision.
  }
}

/** Makes a rename outlive a power cut, where the system can. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r').catch(() => null);
  // Not every file system can do it; the file itself is written and named.
  await handle?.sync().catch(() => {});
  await handle?.close();
}
