import { readlink, stat } from 'node:fs/promises';
import { basename, dirname, join, parse, resolve, sep } from 'node:path';

/** Real directories to watch, each with the relevant names in it; null if all are relevant. */
export type Directories = Map<string, Set<string> | null>;

type PathKind = { readonly target: string } | 'not a link' | 'missing' | 'not in a directory';

/** Cache of path kinds, for paths with a common prefix. */
export type Trodden = Map<string, PathKind>;

/** Longer chains of links are loops for the operating system, too. */
const MAX_LINKS = 40;

/**
 * Adds every directory that affects the resolution of a path: the one that contains it, the one around each symbolic
 * link on the way, and the path itself if it is a directory. If part of the path does not exist, the deepest existing
 * directory is added for the rest. Never rejects.
 */
export async function addChain(path: string, directories: Directories, trodden: Trodden): Promise<void> {
  const absolute = resolve(path);
  const { root } = parse(absolute);
  const names = partsOf(absolute.slice(root.length)).reverse();
  let at = root;
  for (let links = 0; names.length > 0; ) {
    const name = names.pop()!;
    if (name === '..') {
      at = dirname(at);
      continue;
    }
    const entry = join(at, name);
    const match = trodden.get(entry) ?? (await follow(entry));
    trodden.set(entry, match);
    if (match === 'not a link') {
      if (names.length === 0) add(directories, at, name);
      at = entry;
    } else if (match === 'not in a directory') {
      add(directories, dirname(at), basename(at));
      return;
    } else {
      add(directories, at, name);
      if (match === 'missing' || ++links > MAX_LINKS) return;
      const target = parse(match.target);
      if (target.root !== '') at = resolve(at, target.root);
      for (const segment of partsOf(match.target.slice(target.root.length)).reverse()) names.push(segment);
    }
  }
  if (await isDirectory(at)) directories.set(at, null);
}

function add(directories: Directories, directory: string, name: string): void {
  const names = directories.get(directory);
  if (names) names.add(name);
  else if (names === undefined) directories.set(directory, new Set([name]));
}

function partsOf(path: string): string[] {
  return path.split(sep).filter((segment) => segment !== '' && segment !== '.');
}

async function follow(entry: string): Promise<PathKind> {
  try {
    return { target: await readlink(entry) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Windows reports UNKNOWN where other systems report EINVAL.
    if (code === 'EINVAL' || code === 'UNKNOWN') return 'not a link';
    return code === 'ENOTDIR' ? 'not in a directory' : 'missing';
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
