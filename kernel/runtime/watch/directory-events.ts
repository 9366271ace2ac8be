import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import type { Directories } from './chain.ts';

interface Watched {
  /** Identifies the directory, in case a different directory takes its name. */
  readonly identity: string;
  readonly watcher: FSWatcher;
  /** Resolves once no later change can be missed. */
  readonly ready: PromiseWithResolvers<void>;
  /** Relevant names; null for all. */
  names: ReadonlySet<string> | null;
}

/** Reports changes of directories' entries. */
export interface DirectoryEvents {
  /**
   * Watches these directories and no others. Never rejects. Calls must not overlap.
   * @returns whether a directory is newly watched, and a promise for all of them.
   */
  arrange(directories: Directories): Promise<{ readonly moved: boolean; readonly ready: Promise<unknown> }>;
  close(): Promise<void>;
}

/**
 * Uses one watcher per directory, so that removing a directory does not disturb the other watchers.
 * @param onEvent an entry with a relevant name may have changed.
 * @param onError events of a directory are unreliable.
 */
export function directoryEvents(onEvent: () => void, onError: (error: Error) => void): DirectoryEvents {
  const watched = new Map<string, Watched>();
  const closing = new Set<Promise<void>>();
  let closed = false;

  const drop = (path: string): void => {
    const old = watched.get(path);
    if (!old) return;
    watched.delete(path);
    old.ready.resolve();
    const ending = old.watcher.close().catch(() => {});
    closing.add(ending);
    void ending.then(() => closing.delete(ending));
  };

  const open = (path: string, identity: string, names: Watched['names']): Watched => {
    const watcher = watch(path, {
      depth: 0,
      followSymlinks: false,
      ignoreInitial: true,
      persistent: false,
      atomic: false,
      ignored: (entry) => {
        const matters = watched.get(path)?.names;
        return matters != null && dirname(entry) === path && entry !== path && !matters.has(basename(entry));
      },
    });
    const ready = Promise.withResolvers<void>();
    watcher.on('ready', ready.resolve);
    watcher.on('all', onEvent);
    watcher.on('error', (error) => {
      ready.resolve();
      onError(error as Error);
    });
    return { identity, watcher, ready, names };
  };

  return {
    async arrange(directories) {
      let moved = false;
      for (const path of [...watched.keys()]) if (!directories.has(path)) drop(path);
      for (const [path, names] of directories) {
        const identity = await identityOf(path);
        if (closed) break;
        const there = watched.get(path);
        if (there?.identity === identity) {
          there.names = names;
          continue;
        }
        moved = true;
        drop(path);
        if (identity === null) continue;
        try {
          watched.set(path, open(path, identity, names));
        } catch (error) {
          onError(error as Error);
        }
      }
      return { moved, ready: Promise.all([...watched.values()].map(({ ready }) => ready.promise)) };
    },
    async close() {
      closed = true;
      for (const path of [...watched.keys()]) drop(path);
      await Promise.all(closing);
    },
  };
}

/** The inode number alone is not sufficient, because file systems reuse it for new directories. */
async function identityOf(path: string): Promise<string | null> {
  try {
    const { dev, ino, birthtimeNs } = await stat(path, { bigint: true });
    return `${dev}:${ino}:${birthtimeNs}`;
  } catch {
    return null;
  }
}
