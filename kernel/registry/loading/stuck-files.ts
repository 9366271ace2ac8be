import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { PositionedError } from '../../config/index.ts';
import type { FileReader } from './file-reader.ts';
import { sourceError, UNFINISHED } from './source-error.ts';

interface Stuck {
  readonly error: PositionedError;
  /** Every file read by then, with the SHA-256 of its content. */
  readonly hashes: ReadonlyMap<string, string>;
}

/**
 * Plugin files whose evaluation timed out, by content. The same content is rejected at once; any other failure may be
 * caused by the environment, and is retried.
 */
export class StuckFiles {
  readonly #known: LRUCache<string, Stuck>;

  /** @param max maximum number of files to remember. */
  constructor(max: number) {
    this.#known = new LRUCache({ max });
  }

  /**
   * Loads a file, unless it is known to time out.
   * @param load receives the reader to use: its reads belong to the file's content. @throws errors of `load`.
   */
  async load<T>(file: string, pointer: string, files: FileReader, load: (files: FileReader) => Promise<T>): Promise<T> {
    const stuck = this.#known.get(file);
    if (stuck && isUnchanged(stuck.hashes, files)) throw sourceError(pointer, stuck.error, file);
    const hashes = new Map<string, string>();
    const noting: FileReader = {
      read(path) {
        const bytes = files.read(path);
        hashes.set(path, hash('sha256', bytes));
        return bytes;
      },
      list: (path) => files.list(path),
    };
    try {
      return await load(noting);
    } catch (error) {
      const isStuck = error instanceof PositionedError && error.reason.startsWith(UNFINISHED);
      if (isStuck) this.#known.set(file, { error, hashes });
      throw error;
    }
  }
}

/** True if every file has the content with that SHA-256. */
export function isUnchanged(hashes: ReadonlyMap<string, string>, files: FileReader): boolean {
  for (const [path, before] of hashes) {
    try {
      if (hash('sha256', files.read(path)) !== before) return false;
    } catch {
      return false;
    }
  }
  return true;
}
