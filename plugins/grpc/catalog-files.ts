import { join } from 'node:path';
import type { Site } from '#contract';

/** A file of a catalog. */
export interface CatalogFile {
  /** As messages name it. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Directories within directories that are looked into, and files of one catalog. */
const MAX_DEPTH = 16;
const MAX_FILES = 10_000;

/**
 * The descriptor sets of a catalog, in order: files as they are named, and of directories all `.pb` files, at any depth, by
 * name. Everything is watched. Code: `GRPC_CATALOG_FILES`.
 * @throws the error of the file system.
 */
export function readCatalog(site: Site<unknown>, entries: readonly string[]): CatalogFile[] {
  const files: CatalogFile[] = [];
  for (const [index, entry] of entries.entries()) {
    const pointer = `/catalog/${index}`;
    const before = files.length;
    if (entry.endsWith('.proto')) throw notCompiled(site, pointer, entry);
    if (!entry.endsWith('.pb') && collect(site, entry, files, 0)) {
      if (files.length > MAX_FILES) {
        throw site.fault('GRPC_CATALOG_FILES', pointer, `more than ${MAX_FILES} descriptor sets`);
      }
      if (files.length === before) site.warn('GRPC_CATALOG_FILES', pointer, `no .pb file in ${entry}`);
    } else {
      files.push({ path: entry, bytes: site.read(entry) });
    }
  }
  return files;
}

/** @returns false for what is no directory. */
function collect(site: Site<unknown>, directory: string, files: CatalogFile[], depth: number): boolean {
  const names = namesIn(site, directory);
  if (!names) return false;
  for (const name of names) {
    const path = join(directory, name);
    if (name.endsWith('.pb')) files.push({ path, bytes: site.read(path) });
    else if (depth < MAX_DEPTH && files.length <= MAX_FILES) collect(site, path, files, depth + 1);
  }
  return true;
}

/** Without those that begin with a dot, in which orchestrators keep what they mount; null for what is no directory. */
function namesIn(site: Site<unknown>, path: string): string[] | null {
  try {
    return site
      .list(path)
      .filter((name) => !name.startsWith('.'))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return null;
    throw error;
  }
}

function notCompiled(site: Site<unknown>, pointer: string, path: string): Error {
  return site.fault('GRPC_CATALOG_SOURCE', pointer, `${path} is a source: a catalog takes descriptor sets`, {
    hint: `protoc --include_imports --descriptor_set_out=${path.replace(/\.proto$/, '.pb')} ${path}`,
  });
}
