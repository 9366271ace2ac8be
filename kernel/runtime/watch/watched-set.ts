import { resolve } from 'node:path';
import { addChain, type Directories, type Trodden } from './chain.ts';
import { type Content, type LooksUnfinished, readContent, readMark } from './content.ts';
import type { Contents } from './settle.ts';

/** A file, or a directory, as an attempt read it. */
export interface FileRead {
  readonly path: string;
  /** As of `contentHash` or `listingHash`; null when it could not be read, undefined when that is not known. */
  readonly hash: string | null | undefined;
}

/** The watched paths and what is known of them. */
export interface WatchedSet {
  readonly size: number;
  replace(files: Iterable<string | FileRead>): void;
  /** Runs a write of ours: content with this hash is nobody's change while it runs, and known when it has succeeded. */
  write(path: string, hash: string, write: () => Promise<void>): Promise<void>;
  /** Reads everything. Content of paths that nothing is known of becomes what is known. */
  read(): Promise<Contents>;
  /** Paths whose content is not what is known. */
  differing(contents: Contents): string[];
  /** Makes content what is known. */
  accept(paths: readonly string[], contents: Contents): void;
  /** Whether anything, by size, times or inode, is not as it was read last. */
  moved(): Promise<boolean>;
  /** Directories that decide what the paths lead to now. */
  directories(): Promise<Directories>;
}

/** Files read at the same time. */
const ABREAST = 16;

export function watchedSet(looksUnfinished: LooksUnfinished): WatchedSet {
  /** Content the last attempt read; undefined until the file is first read. */
  let known = new Map<string, string | null | undefined>();
  /** Content that is being written by us. */
  const own = new Map<string, string>();
  let last = new Map<string, Content>();

  return {
    get size() {
      return known.size;
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

/** Does something with each item, several at a time. */
async function abreast<T>(items: Iterable<T>, use: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items].values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await use(item);
  };
  await Promise.all(Array.from({ length: ABREAST }, worker));
}
