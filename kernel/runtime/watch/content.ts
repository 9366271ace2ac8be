import type { BigIntStats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { contentHash, listingHash } from '../prints/content-hash.ts';

/** Content found at a path. */
export interface Content {
  /**
   * SHA-256 of a file's bytes or of a directory's names; null if unreadable, undefined for content that only its first
   * reader can read, such as a pipe.
   */
  readonly hash: string | null | undefined;
  /** Text that changes with size, times and inode of the file, and with the reason why it cannot be read. */
  readonly mark: string;
  /** Reason why the file is unreadable; null if it is readable. */
  readonly problem: string | null;
  /** True if the file is missing, or apparently not completely written. */
  readonly unfinished: boolean;
  /** Whether the last write was long enough ago that a further write would change the mark. */
  readonly settled: boolean;
}

/** Tests whether a file is still being written. */
export type LooksUnfinished = (file: string, bytes: Uint8Array) => boolean;

/** Assumed granularity of file times, in milliseconds: two writes in quick succession can leave the same times. */
const COARSE_TIME_MS = 2_000;

/**
 * Reads a file, following links, or lists a directory. Never rejects.
 * @param before the previous result: reused, without reading, if nothing can have changed.
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

/** The current mark of a path, which changes with the content. Never rejects. */
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
