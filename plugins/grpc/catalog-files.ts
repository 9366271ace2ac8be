import { join } from 'node:path';
import type { Site } from '#contract';

/** A file of a catalog. */
export interface CatalogFile {
  /** As messages name it. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** What a catalog names. */
export interface CatalogContent {
  readonly files: CatalogFile[];
  /** The `.proto` files in its directories, each with the pointer of its directory. */
  readonly sources: { readonly path: string; readonly pointer: string }[];
}

/** Directories within directories that are looked into, and files of one catalog. */
const MAX_DEPTH = 16;
const MAX_FILES = 10_000;

/**
 * The descriptor sets of a catalog, in order: files as they are named, and of directories all `.pb` files, at any depth, by
 * name. Everything is watched. Code: `GRPC_CATALOG_FILES`.
 * @throws the error of the file system.
 */
export function readCatalog(site: Site<unknown>, entries: readonly string[]): CatalogContent {
  const content: CatalogContent = { files: [], sources: [] };
  const { files, sources } = content;
  for (const [index, entry] of entries.entries()) {
    const pointer = `/catalog/${index}`;
    const before = files.length;
    if (entry.endsWith('.proto')) throw notCompiled(site, pointer, entry);
    if (!entry.endsWith('.pb') && collect(site, entry, pointer, content, 0)) {
      if (files.length > MAX_FILES) {
        throw site.fault('GRPC_CATALOG_FILES', pointer, `more than ${MAX_FILES} descriptor sets`);
      }
      // Who has sources there is told of those.
      const isEmpty = files.length === before && !sources.some((source) => source.pointer === pointer);
      if (isEmpty) site.warn('GRPC_CATALOG_FILES', pointer, `no .pb file in ${entry}`);
    } else {
      files.push({ path: entry, bytes: site.read(entry) });
    }
  }
  return content;
}

/** @returns false for what is no directory. */
function collect(
  site: Site<unknown>,
  directory: string,
  pointer: string,
  content: CatalogContent,
  depth: number,
): boolean {
  const { files, sources } = content;
  const names = namesIn(site, directory);
  if (!names) return false;
  for (const name of names) {
    const path = join(directory, name);
    if (name.endsWith('.pb')) files.push({ path, bytes: site.read(path) });
    else if (name.endsWith('.proto')) sources.push({ path, pointer });
    else if (depth < MAX_DEPTH && files.length <= MAX_FILES) collect(site, path, pointer, content, depth + 1);
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
    hint: compiling(path),
  });
}

/**
 * Says of sources in directories which of them no descriptor set was made of.
 * @param names of the files that the descriptor sets describe, as in `shop/orders.proto`.
 */
export function warnOfSources(site: Site<unknown>, { sources }: CatalogContent, names: readonly string[]): void {
  const lost = sources.filter(({ path }) => !names.some((name) => path === name || path.endsWith(`/${name}`)));
  for (const { path, pointer } of lost) {
    const message = `${path} is a source, and no descriptor set was made of it: it is left out`;
    site.warn('GRPC_CATALOG_SOURCE', pointer, message, { hint: compiling(path) });
  }
}

function compiling(path: string): string {
  return `protoc --include_imports --descriptor_set_out=${path.replace(/\.proto$/, '.pb')} ${path}`;
}
