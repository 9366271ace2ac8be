import type { BigIntStats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { contentHash, listingHash } from '../content-hash.ts';

/** What was found at a path. */
export interface Content {
  /**
   * Of a file its bytes' SHA-256, of a directory its names'; null when it cannot be read, undefined for what only its
   * first reader can read, such as a pipe.
   */
  readonly hash: string | null | undefined;
  /** Differs whenever size, times, inode or the reason not to be readable differ. */
  readonly mark: string;
  /** Why it cannot be read; null when it can. */
  readonly problem: string | null;
  /** Missing, or not completely written by its looks. */
  readonly unfinished: boolean;
  /** Old enough that another write would have changed the mark. */
  readonly settled: boolean;
}

/** Says whether a file is still on its way to the disk. */
export type LooksUnfinished = (file: string, bytes: Uint8Array) => boolean;

/** Times of files may be as coarse as this, in milliseconds: a write right after another can leave the same times. */
const COARSE_TIME_MS = 2_000;

/**
 * Reads a file, following links, or lists a directory. Never rejects.
 * @param before what was found last time: reused, without reading, where nothing can have changed.
 */
export async function readContent(
  path: string,
  before: Content | undefined,
  looksUnfinished: LooksUnfinished,
): Promise<Content> {
  try {
    const stats = await stat(path, { bigint: true });
    const mark = markOf(stats);
    if (before?.settled && before.mark === mark) return before;
    const settled = Date.now() - Math.max(Number(stats.mtimeMs), Number(stats.ctimeMs)) > COARSE_TIME_MS;
    if (stats.isDirectory()) {
      return { hash: listingHash(await readdir(path)), mark, problem: null, unfinished: false, settled };
    }
    if (!stats.isFile()) return { hash: undefined, mark, problem: null, unfinished: false, settled };
    const bytes = await readFile(path);
    return {
      hash: contentHash(bytes),
      mark,
      problem: null,
      unfinished: looksUnfinished(path, bytes),
      settled,
    };
  } catch (error) {
    return failed(error);
  }
}

/** The `mark` of what is at a path now. Never rejects. */
export async function readMark(path: string): Promise<string> {
  try {
    return markOf(await stat(path, { bigint: true }));
  } catch (error) {
    return failed(error).mark;
  }
}

function markOf(stats: BigIntStats): string {
  return `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

function failed(error: unknown): Content {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  const missing = code === 'ENOENT' || code === 'ENOTDIR';
  return { hash: null, mark: code, problem: missing ? 'missing' : code, unfinished: missing, settled: false };
}
