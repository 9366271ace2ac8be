import { readdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { UnreadFile } from '../../pipeline/attach/attach.ts';
import { readRegularFile } from '../../values/regular-file.ts';
import type { FileRead } from '../watch/index.ts';
import { contentHash, listingHash } from './content-hash.ts';

interface ReadAttempt {
  /** Hash of the content; null for a file that cannot be read. */
  readonly hash: string | null;
  readonly bytes: Uint8Array | null;
  /** Names of a directory's entries; null for a file. */
  readonly names: readonly string[] | null;
  readonly error: unknown;
}

/** Content at a path: the bytes of a file, or the names of a directory's entries. */
export type FileContent = Uint8Array | readonly string[];

/**
 * The files of one attempt. Each path is read once: later reads get the same content, or the same error, so that no
 * attempt sees two versions of one file.
 */
export class ReadFiles {
  readonly #found = new Map<string, ReadAttempt>();

  /** @param given contents that were already read elsewhere, by absolute path; they are not read again. */
  constructor(given: Iterable<readonly [string, FileContent]> = []) {
    for (const [path, content] of given) this.#found.set(path, attemptOf(content, path));
  }

  /** Returns the bytes of a file. @throws the file system's error. */
  readonly read = (path: string): Uint8Array => {
    const { bytes, error } = this.#attempt(path);
    if (!bytes) throw error;
    return bytes;
  };

  /** Returns the names of a directory's entries, in any order. @throws the file system's error, ENOTDIR for a file. */
  readonly list = (path: string): readonly string[] => {
    const absolute = resolve(path);
    if (!this.#found.has(absolute)) this.#found.set(absolute, attemptDirectory(absolute));
    const { names, error } = this.#attempt(path);
    if (!names) throw error;
    return names;
  };

  /** True for a directory, false for anything else that exists. @throws the file system's error. */
  readonly isDirectory = (path: string): boolean => {
    try {
      return statSync(path).isDirectory();
    } catch (error) {
      throw withPath(error, path);
    }
  };

  /** Hash of the content at a path, as the watcher computes it; null if it cannot be read. */
  hashOf(path: string): string | null {
    return this.#attempt(path).hash;
  }

  #attempt(path: string): ReadAttempt {
    const absolute = resolve(path);
    let attempt = this.#found.get(absolute);
    if (!attempt) {
      attempt = attemptRead(absolute);
      this.#found.set(absolute, attempt);
    }
    return attempt;
  }

  /** Every read so far, including missing files. */
  get reads(): FileRead[] {
    return [...this.#found].map(([path, { hash }]) => ({ path, hash }));
  }

  /** Contents of all readable files, by absolute path. */
  get contents(): [string, FileContent][] {
    return [...this.#found].flatMap(([path, { bytes, names }]) => {
      const content = bytes ?? names;
      return content ? [[path, content] as [string, FileContent]] : [];
    });
  }
}

/** Records the files that a configuration names, without reading them. */
export class NamedFiles extends ReadFiles {
  readonly names = new Set<string>();

  /** @throws UnreadFile always. */
  override readonly read = (path: string): Uint8Array => {
    this.names.add(path);
    throw new UnreadFile(path);
  };

  /** @throws UnreadFile always. */
  override readonly list = (path: string): readonly string[] => this.read(path) as never;

  /** @throws UnreadFile always. */
  override readonly isDirectory = (path: string): boolean => this.read(path) as never;
}

function attemptRead(path: string): ReadAttempt {
  try {
    return attemptOf(readRegularFile(path), path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EISDIR' ? attemptList(path, error) : failed(error, path);
  }
}

/** @throws ENOTDIR for a file, which is not watched because its content was not requested. */
function attemptDirectory(path: string): ReadAttempt {
  try {
    return attemptOf(readdirSync(path), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') throw error;
    return failed(error, path);
  }
}

/** @param error the error from reading it as a file. */
function attemptList(path: string, error: unknown): ReadAttempt {
  try {
    return { ...attemptOf(readdirSync(path), path), error: withPath(error, path) };
  } catch (listError) {
    return failed(listError, path);
  }
}

function attemptOf(content: FileContent, path: string): ReadAttempt {
  return content instanceof Uint8Array
    ? { hash: contentHash(content), bytes: content, names: null, error: notA('directory', 'ENOTDIR', path) }
    : { hash: listingHash(content), bytes: null, names: content, error: notA('file', 'EISDIR', path) };
}

function failed(error: unknown, path: string): ReadAttempt {
  return { hash: null, bytes: null, names: null, error: withPath(error, path) };
}

function notA(kind: string, code: string, path: string): Error {
  return Object.assign(new Error(`not a ${kind}`), { code, path });
}

/**
 * Adds the path to a file system error, by which callers distinguish it from a bug. Node.js omits the path if a
 * directory is read, or if the path contains a null byte.
 */
function withPath(error: unknown, path: string): unknown {
  return error instanceof Error && !('path' in error) ? Object.assign(error, { path }) : error;
}
