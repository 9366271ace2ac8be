import { close, constants, fstat, open, realpath, type Stats } from 'node:fs';
import { join, sep } from 'node:path';
import { promisify } from 'node:util';

const resolve = promisify(realpath.native);
const openAt = promisify(open);
const status = promisify(fstat);

/** Flags for opening a file: a symbolic link in the last segment is not followed, and a pipe is opened without waiting for its writer. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** An open file. The receiver must close it. */
export interface OpenFile {
  readonly fd: number;
  /** File name without directories. */
  readonly name: string;
  readonly size: number;
  /** Modification time in milliseconds since 1970, with a fraction. */
  readonly modifiedMs: number;
}

/** Result of opening a path below a directory. */
export type Opened =
  | { readonly kind: 'file'; readonly file: OpenFile }
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly error: Error };

const missing: Opened = Object.freeze({ kind: 'missing' });

const MISSING: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ENXIO']);
const UNREADABLE: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM']);

/**
 * Opens a path below a directory. Symbolic links are followed as long as they stay below it; the directory itself may
 * be one, and is resolved each time.
 * @throws the file system error unless the path is missing or unreadable.
 */
export async function openBelow(root: string, names: readonly string[]): Promise<Opened> {
  try {
    const real = await resolve(root);
    const path = await resolve(join(real, ...names));
    return isBelow(path, real) ? await openReal(path, names.at(-1) ?? '') : missing;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (MISSING.has(code)) return missing;
    if (UNREADABLE.has(code)) return { kind: 'unreadable', error: error as Error };
    throw error;
  }
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

async function openReal(path: string, name: string): Promise<Opened> {
  const fd = await openAt(path, FLAGS);
  let stats: Stats;
  try {
    stats = await status(fd);
  } catch (error) {
    closeFile(fd);
    throw error;
  }
  if (stats.isFile()) return { kind: 'file', file: { fd, name, size: stats.size, modifiedMs: stats.mtimeMs } };
  closeFile(fd);
  return stats.isDirectory() ? { kind: 'directory', path } : missing;
}

/** Closes a file and ignores failures: everything needed has been read. */
export function closeFile(fd: number): void {
  close(fd, ignored);
}

function ignored(): void {}
