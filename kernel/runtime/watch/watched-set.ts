import { resolve } from 'node:path';
import { addChain, type Directories, type Trodden } from './chain.ts';
import { type Content, type LooksUnfinished, readContent, readMark } from './content.ts';
import type { Contents } from './settle.ts';

/** A file or a directory, as read by an attempt. */
export interface FileRead {
  readonly path: string;
  /** Hash of the content or of the directory listing; null if it could not be read, undefined if unknown. */
  readonly hash: string | null | undefined;
}

/** The watched paths and their known content. */
export interface WatchedSet {
  readonly size: number;
  replace(files: Iterable<string | FileRead>): void;
  /** Runs a write of the gateway itself: content with this hash does not count as a change while it runs, and becomes known on success. */
  write(path: string, hash: string, write: () => Promise<void>): Promise<void>;
  /** Reads everything. Content of new paths becomes the known content. */
  read(): Promise<Contents>;
  /** Paths whose content differs from the known one. */
  differing(contents: Contents): string[];
  /** Records the content as known, so that only later changes are reported. */
  accept(paths: readonly string[], contents: Contents): void;
  /** Whether size, times or inode of any path have changed since the last read. */
  moved(): Promise<boolean>;
  /** True if a file could not be read for a reason that may pass without an event, such as EMFILE. */
  readonly hasProblem: boolean;
  /** Directories that the paths currently resolve through. */
  directories(): Promise<Directories>;
}

/** Number of files read concurrently. */
const ABREAST = 16;

export function watchedSet(looksUnfinished: LooksUnfinished): WatchedSet {
  /** Content that the last attempt has read; undefined until the file is first read. */
  let known = new Map<string, string | null | undefined>();
  /** Content that the gateway itself is writing. */
  const own = new Map<string, string>();
  let last = new Map<string, Content>();

  return {
    get size() {
      return known.size;
    },

    get hasProblem() {
      return [...last.values()].some(({ problem }) => problem !== null && problem !== 'missing');
    },

    replace(files) {
      const before = known;
      known = new Map();
      for (const file of files) {
        const given = typeof file === 'string' ? { path: file, hash: undefined } : file;
        const path = resolve(given.path);
        if (given.hash !== undefined) known.set(path, given.hash);
        else if (!known.has(path)) known.set(path, before.get(path));
      }
    },

    async write(path, hash, write) {
      own.set(path, hash);
      try {
        await write();
        if (known.has(path)) known.set(path, hash);
      } finally {
        own.delete(path);
      }
    },

    async read() {
      const contents = new Map<string, Content>();
      await abreast(known.keys(), async (path) => {
        contents.set(path, await readContent(path, last.get(path), looksUnfinished));
      });
      last = contents;
      for (const [path, { hash }] of contents) {
        const isNew = known.get(path) === undefined;
        if (known.has(path) && (isNew || (hash != null && own.get(path) === hash))) known.set(path, hash);
      }
      return contents;
    },

    differing: (contents) =>
      [...contents]
        .filter(([path, { hash }]) => hash !== undefined && known.has(path) && known.get(path) !== hash)
        .map(([path]) => path),

    accept(paths, contents) {
      for (const path of paths) if (known.has(path)) known.set(path, contents.get(path)!.hash);
    },

    async moved() {
      let moved = false;
      await abreast(known.keys(), async (path) => {
        const before = last.get(path);
        if (before && (await readMark(path)) !== before.mark) moved = true;
      });
      return moved;
    },

    async directories() {
      const directories: Directories = new Map();
      const trodden: Trodden = new Map();
      for (const path of known.keys()) await addChain(path, directories, trodden);
      return directories;
    },
  };
}

/** Processes several items concurrently. */
async function abreast<T>(items: Iterable<T>, use: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items].values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await use(item);
  };
  await Promise.all(Array.from({ length: ABREAST }, worker));
}
