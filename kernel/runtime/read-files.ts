import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { contentHash, listingHash } from './content-hash.ts';
import type { FileRead } from './watch/index.ts';

/**
 * Reads files for one attempt and remembers every one, missing ones too. Each path is read once: whoever asks again gets
 * the same content, or the same error, so that an attempt never sees two versions of one file.
 */
export interface FileReader {
  /** @throws what `readFile` throws. */
  read(path: string): Promise<Uint8Array>;
  /** @throws what `readFileSync` throws. */
  readSync(path: string): Uint8Array;
  /** Names of a directory's entries, sorted. @throws what `readdir` throws. */
  list(path: string): Promise<readonly string[]>;
  /** As `list`. */
  listSync(path: string): readonly string[];
  /**
   * Everything asked for so far, by absolute path. A hash is undefined where the watcher would not find the same: while a
   * file is still being read, and for a directory read like a file.
   */
  files(): FileRead[];
}

type Outcome<T> =
  | { readonly hash: string; readonly value: T }
  | { readonly hash: null | undefined; readonly error: unknown };

/** A reader that has read nothing yet. */
export function createReader(): FileReader {
  const contents = memory(readFile, readFileSync, (bytes: Uint8Array) => bytes, contentHash);
  const listings = memory(readdir, readdirSync, (names: string[]): readonly string[] => names.sort(), listingHash);
  return {
    read: contents.ask,
    readSync: contents.askSync,
    list: listings.ask,
    listSync: listings.askSync,
    files: () => [...contents.outcomes(), ...listings.outcomes()],
  };
}

interface Memory<T> {
  ask(path: string): Promise<T>;
  askSync(path: string): T;
  outcomes(): FileRead[];
}

function memory<Raw, T>(
  read: (path: string) => Promise<Raw>,
  readSync: (path: string) => Raw,
  shape: (raw: Raw) => T,
  hashOf: (value: T) => string,
): Memory<T> {
  /** Undefined while the first reading is on its way. */
  const found = new Map<string, Outcome<T> | undefined>();
  const reading = new Map<string, Promise<Outcome<T>>>();

  const succeeded = (raw: Raw): Outcome<T> => {
    const value = shape(raw);
    return { hash: hashOf(value), value };
  };
  const failed = (error: unknown): Outcome<T> => {
    const { code } = error as NodeJS.ErrnoException;
    return { hash: code === 'EISDIR' || code === 'ENOTDIR' ? undefined : null, error };
  };
  /** What was found first stays. */
  const keep = (path: string, outcome: Outcome<T>): Outcome<T> => {
    const first = found.get(path) ?? outcome;
    found.set(path, first);
    return first;
  };

  return {
    async ask(path) {
      const absolute = resolve(path);
      let outcome = reading.get(absolute);
      if (!outcome) {
        const there = found.get(absolute);
        if (!there) found.set(absolute, undefined);
        outcome = there
          ? Promise.resolve(there)
          : read(absolute)
              .then(succeeded, failed)
              .then((read) => keep(absolute, read));
        reading.set(absolute, outcome);
      }
      return contentOf(await outcome);
    },
    askSync(path) {
      const absolute = resolve(path);
      const there = found.get(absolute);
      if (there) return contentOf(there);
      let outcome: Outcome<T>;
      try {
        outcome = succeeded(readSync(absolute));
      } catch (error) {
        outcome = failed(error);
      }
      return contentOf(keep(absolute, outcome));
    },
    outcomes: () => [...found].map(([path, outcome]) => ({ path, hash: outcome?.hash })),
  };
}

function contentOf<T>(outcome: Outcome<T>): T {
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}
