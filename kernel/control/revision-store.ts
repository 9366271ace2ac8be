import type { Log } from '#contract';
import { type Revision, type RevisionSummary, summaryOf } from './revision.ts';
import { type RevisionFiles, revisionFiles } from './revision-files.ts';

/** Result of a lookup by number: `pruned` if the revision existed, undefined if it never did. */
export type Stored<T> = T | 'pruned' | undefined;

/**
 * The history of configurations that served. A change is visible at once; its promise resolves when the disk write has
 * succeeded or failed. Its promises never reject: data that could not be written stays in memory, and is retried with
 * the next change.
 */
export interface RevisionStore {
  /** Highest number ever used; 0 before the first. */
  readonly last: number;
  /** Reason why the history on disk is incomplete; null if it is complete. */
  readonly problem: string | null;
  /** Resolves when the disk writes of all changes so far have succeeded or failed. */
  readonly settled: Promise<void>;
  /** The revisions without their contents, newest first. */
  list(): readonly RevisionSummary[];
  /** Returns `pruned` also, with a WARNING, when the file is no longer readable. */
  get(number: number): Promise<Stored<Revision>>;
  /** The newest revision that was not rolled back and is still readable. */
  lastGood(): Promise<Revision | undefined>;
  /**
   * Adds the serving revision; the oldest unpinned ones are pruned.
   * @param revision its number is above `last`.
   */
  add(revision: Revision): Promise<void>;
  /** Pins a revision, which excludes it from pruning, or unpins it. */
  pin(number: number, pinned: boolean): Promise<Stored<RevisionSummary>>;
  /** Marks a revision as rolled back: `lastGood` skips it. */
  markBad(number: number, reason: string): Promise<Stored<RevisionSummary>>;
}

/**
 * Opens the history in a directory; an unreadable one counts as a disk problem, not as an error of the caller.
 * @param directory null to keep everything in memory.
 * @param keep returns the number of revisions to keep in addition to the pinned ones; the newest is always kept.
 */
export async function openRevisionStore(
  directory: string | null,
  keep: () => number,
  log: Log,
): Promise<RevisionStore> {
  return createRevisionStore(directory === null ? null : revisionFiles(directory), keep, log);
}

interface Entry {
  summary: RevisionSummary;
  /** Content of a revision that is only in memory; null once it is in its file. */
  text: string | null;
  /** True while the revision differs from its file. */
  dirty: boolean;
}

/** Like `openRevisionStore`, with a given implementation of the files. */
export async function createRevisionStore(
  files: RevisionFiles | null,
  keep: () => number,
  log: Log,
): Promise<RevisionStore> {
  const entries = new Map<number, Entry>();
  /** Revisions that were pruned, but whose files may still exist. */
  const leaving = new Set<Entry>();
  let last = 0;
  let problem: string | null = null;
  let failing = false;
  let writing: Promise<void> = Promise.resolve();

  const list = (): RevisionSummary[] =>
    [...entries.values()].map(({ summary }) => summary).sort((a, b) => b.number - a.number);

  const fail = (failure: string): void => {
    if (!failing) log.warning(`revisions are kept in memory only: ${failure}`);
    failing = true;
    problem = failure;
  };

  const lose = (entry: Entry, error: unknown): void => {
    const { number } = entry.summary;
    if (entries.get(number) !== entry) return;
    entries.delete(number);
    log.warning(`revision ${number} is lost: ${(error as Error).message}`);
  };

  const read = async (disk: RevisionFiles, entry: Entry): Promise<Revision | null> => {
    try {
      return { ...(await disk.read(entry.summary.number)), ...entry.summary };
    } catch (error) {
      if (!isLost(error)) throw error;
      lose(entry, error);
      return null;
    }
  };

  /** Writes a revision. @returns the reason why it was not written although no error occurred; null if it was written. */
  const save = async (disk: RevisionFiles, entry: Entry): Promise<string | null> => {
    const { summary, text } = entry;
    entry.dirty = false;
    try {
      if (text === null) {
        const revision = await read(disk, entry);
        if (revision) await disk.replace({ ...revision, ...summary });
        return null;
      }
      if (!(await disk.create({ ...summary, text }))) {
        return `revision ${summary.number} on disk was written by another process; the revision of this process is kept in memory only`;
      }
      entry.text = null;
      return null;
    } catch (error) {
      entry.dirty = true;
      throw error;
    }
  };

  const writeAll = async (disk: RevisionFiles): Promise<void> => {
    const failures: string[] = [];
    const refusals: string[] = [];
    const attempt = async (task: () => Promise<string | null>): Promise<void> => {
      try {
        const refusal = await task();
        if (refusal !== null) refusals.push(refusal);
      } catch (error) {
        failures.push((error as Error).message);
      }
    };
    // Revisions are removed before others are added, so that the disk has space for them.
    for (const entry of leaving) {
      await attempt(async () => {
        if (entry.text === null) await disk.remove(entry.summary.number);
        leaving.delete(entry);
        return null;
      });
    }
    for (const entry of entries.values()) if (entry.dirty) await attempt(() => save(disk, entry));
    for (const refusal of refusals) log.warning(refusal);
    if (failures.length > 0) return fail(failures[0]!);
    failing = false;
    problem = refusals[0] ?? null;
  };

  const changed = (): Promise<void> => {
    const [newest, ...older] = list().filter(({ pinned }, at) => at === 0 || !pinned);
    const room = newest?.pinned ? keep() : keep() - 1;
    for (const { number } of older.slice(Math.max(0, room))) {
      leaving.add(entries.get(number)!);
      entries.delete(number);
    }
    if (files) writing = writing.then(() => writeAll(files));
    else leaving.clear();
    return writing;
  };

  const lookUp = <T>(number: number, match: (entry: Entry) => T): T | 'pruned' | undefined => {
    const entry = entries.get(number);
    if (entry) return match(entry);
    return Number.isInteger(number) && number > 0 && number <= last ? 'pruned' : undefined;
  };

  const get = async (number: number): Promise<Stored<Revision>> =>
    lookUp(number, async (entry) => {
      if (entry.text !== null) return { ...entry.summary, text: entry.text };
      try {
        return (await read(files!, entry)) ?? 'pruned';
      } catch (error) {
        log.warning(`revision ${number} cannot be read: ${(error as Error).message}`);
        return 'pruned';
      }
    });

  const change = async (number: number, patch: Partial<RevisionSummary>): Promise<Stored<RevisionSummary>> => {
    const match = lookUp(number, (entry) => {
      entry.summary = { ...entry.summary, ...patch };
      entry.dirty = true;
      return entry.summary;
    });
    if (typeof match === 'object') await changed();
    return match;
  };

  try {
    const match = await files?.find();
    last = match?.last ?? 0;
    for (const summary of match?.revisions ?? []) entries.set(summary.number, { summary, text: null, dirty: false });
    if (match && match.skipped.length > 0)
      log.warning(`ignored files that are not revisions: ${match.skipped.join(', ')}`);
  } catch (error) {
    fail((error as Error).message);
  }

  return {
    get last() {
      return last;
    },
    get problem() {
      return problem;
    },
    get settled() {
      return writing;
    },
    list,
    get,
    async lastGood() {
      for (const { number, result } of list()) {
        const revision = result === 'rolled-back' ? undefined : await get(number);
        if (typeof revision === 'object') return revision;
      }
      return undefined;
    },
    async add(revision) {
      last = Math.max(last, revision.number);
      entries.set(revision.number, { summary: summaryOf(revision), text: revision.text, dirty: true });
      await changed();
    },
    pin: (number, pinned) => change(number, { pinned }),
    markBad: (number, reason) => change(number, { result: 'rolled-back', reason }),
  };
}

/** Whether an error means that the file is missing or damaged. A file that may become readable later is not lost. */
function isLost(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined || code === 'ENOENT';
}
