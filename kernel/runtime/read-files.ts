import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { UnreadFile } from '../pipeline/attach.ts';
import { contentHash } from './content-hash.ts';
import type { FileRead } from './watch/index.ts';

interface ReadAttempt {
  /** Null for a file that cannot be read. */
  readonly hash: string | null;
  readonly bytes: Uint8Array | null;
  readonly error: unknown;
}

/**
 * The files of one attempt. Each path is read once: whoever asks again gets the same content, or the same error, so that
 * no attempt sees two versions of one file.
 */
export class ReadFiles {
  readonly #found = new Map<string, ReadAttempt>();

  /** @param given contents read elsewhere, by absolute path: they are not read again. */
  constructor(given: Iterable<readonly [string, Uint8Array]> = []) {
    for (const [path, bytes] of given) this.#found.set(path, { hash: contentHash(bytes), bytes, error: null });
  }

  /** The bytes of a file. @throws the error of the file system. */
  readonly read = (path: string): Uint8Array => {
    const absolute = resolve(path);
    let attempt = this.#found.get(absolute);
    if (!attempt) {
      attempt = attemptRead(absolute);
      this.#found.set(absolute, attempt);
    }
    if (!attempt.bytes) throw attempt.error;
    return attempt.bytes;
  };

  /** Everything asked for so far, missing files included. */
  get reads(): FileRead[] {
    return [...this.#found].map(([path, { hash }]) => ({ path, hash }));
  }

  /** What could be read, by absolute path. */
  get contents(): [string, Uint8Array][] {
    return [...this.#found].flatMap(([path, { bytes }]) => (bytes ? [[path, bytes] as [string, Uint8Array]] : []));
  }
}

/** Notes which files a configuration names, and reads none. */
export class NamedFiles extends ReadFiles {
  readonly names = new Set<string>();

  /** @throws UnreadFile always. */
  override readonly read = (path: string): Uint8Array => {
    this.names.add(path);
    throw new UnreadFile(path);
  };
}

function attemptRead(path: string): ReadAttempt {
  try {
    const bytes = readFileSync(path);
    return { hash: contentHash(bytes), bytes, error: null };
  } catch (error) {
    return { hash: null, bytes: null, error };
  }
}
