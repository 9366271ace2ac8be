import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ConfigError } from '#contract';
import { PositionedError } from '../../config/index.ts';
import type { FileReader } from './file-reader.ts';
import { sourceError, UNFINISHED } from './source-error.ts';

interface Failed {
  readonly error: ConfigError;
  /** Every file that was read before the failure, with the SHA-256 of its content; empty for a file that could not be read. */
  readonly hashes: ReadonlyMap<string, string>;
  /** Time after which the same content is evaluated again, as of `performance.now`. */
  readonly until: number;
}

/**
 * Plugin files whose evaluation failed, by content. The same content is then rejected without evaluating it:
 * permanently if it timed out, and for a short time if it threw an error, so that a single attempt, such as a start and
 * its fallback, evaluates it only once. After that time it is evaluated again, because the cause may be in another
 * file.
 */
export class FailedFiles {
  readonly #known: LRUCache<string, Failed>;
  readonly #retryMs: number;

  /** @param max maximum number of files to remember. @param retryMs time until a file that threw is retried. */
  constructor(max: number, retryMs: number) {
    this.#known = new LRUCache({ max });
    this.#retryMs = retryMs;
  }

  /**
   * Loads a file, unless it is known to fail.
   * @param load receives the reader to use: its reads belong to the file's content. @throws errors of `load`.
   */
  async load<T>(file: string, pointer: string, files: FileReader, load: (files: FileReader) => Promise<T>): Promise<T> {
    const failed = this.#known.get(file);
    if (failed && performance.now() < failed.until && isUnchanged(failed.hashes, files)) {
      const { error } = failed;
      throw error instanceof PositionedError ? sourceError(pointer, error, file) : error.at(pointer);
    }
    const hashes = new Map<string, string>();
    const noting: FileReader = {
      read(path) {
        hashes.set(path, '');
        const bytes = files.read(path);
        hashes.set(path, hash('sha256', bytes));
        return bytes;
      },
      list: (path) => files.list(path),
    };
    try {
      return await load(noting);
    } catch (error) {
      if (error instanceof ConfigError) {
        const isStuck = error instanceof PositionedError && error.reason.startsWith(UNFINISHED);
        const until = isStuck ? Number.POSITIVE_INFINITY : performance.now() + this.#retryMs;
        this.#known.set(file, { error, hashes, until });
      }
      throw error;
    }
  }
}

/** True if every file has the content with that SHA-256; an empty digest marks a file that cannot be read. */
export function isUnchanged(hashes: ReadonlyMap<string, string>, files: FileReader): boolean {
  for (const [path, before] of hashes) {
    try {
      if (hash('sha256', files.read(path)) !== before) return false;
    } catch {
      if (before !== '') return false;
    }
  }
  return true;
}
