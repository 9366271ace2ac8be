import { join } from 'node:path';
import type { Site } from '#contract';

/** A file of a catalog. */
export interface CatalogFile {
  /** As messages name it. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** A `.proto` file in a directory of a catalog. */
export interface CatalogSource {
  readonly path: string;
  /** The directory that the catalog names, and the file as others there import it, as in `shop/orders.proto`. */
  readonly root: string;
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Of the directory. */
  readonly pointer: string;
}

/** What a catalog names. */
export interface CatalogContent {
  readonly files: CatalogFile[];
  readonly sources: CatalogSource[];
}

/** Directories within directories that are looked into, and files of one catalog. */
const MAX_DEPTH = 16;
const MAX_FILES = 10_000;

/**
 * The content of a catalog, in order: files as they are named, and of directories all `.pb` and `.proto` files, at any
 * depth, by name. Everything is watched. Code: `GRPC_CATALOG_FILES`.
 * @throws the error of the file system.
 */
export function readCatalog(site: Site<unknown>, entries: readonly string[]): CatalogContent {
  const content: CatalogContent = { files: [], sources: [] };
  const { files, sources } = content;
  for (const [index, entry] of entries.entries()) {
    const pointer = `/catalog/${index}`;
    const before = files.length;
    if (entry.endsWith('.proto')) throw notCompiled(site, pointer, entry);
    if (!entry.endsWith('.pb') && collect(site, { root: entry, pointer }, '', content, 0)) {
      if (files.length + sources.length > MAX_FILES) {
        throw site.fault('GRPC_CATALOG_FILES', pointer, `more than ${MAX_FILES} files`);
      }
      const isEmpty = files.length === before && !sources.some((source) => source.pointer === pointer);
      if (isEmpty) site.warn('GRPC_CATALOG_FILES', pointer, `no .pb and no .proto file in ${entry}`);
    } else {
      files.push({ path: entry, bytes: site.read(entry) });
    }
  }
  return content;
}

/** @param inner path within the root; empty for the root itself. @returns false for what is no directory. */
function collect(
  site: Site<unknown>,
  top: Pick<CatalogSource, 'root' | 'pointer'>,
  inner: string,
  content: CatalogContent,
  depth: number,
): boolean {
  const { files, sources } = content;
  const names = namesIn(site, join(top.root, inner));
  if (!names) return false;
  for (const each of names) {
    const name = inner === '' ? each : `${inner}/${each}`;
    const path = join(top.root, name);
    if (each.endsWith('.pb')) files.push({ path, bytes: site.read(path) });
    else if (each.endsWith('.proto')) sources.push({ ...top, path, name, bytes: site.read(path) });
    else if (depth < MAX_DEPTH && files.length + sources.length <= MAX_FILES)
      collect(site, top, name, content, depth + 1);
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
  return site.fault(
    'GRPC_CATALOG_SOURCE',
    pointer,
    `${path} is a source: a catalog takes descriptor sets and directories`,
    {
      hint: `its directory, from which imports count, or a set: ${compiling(path)}`,
    },
  );
}

/** How to make a descriptor set of a source. */
export function compiling(path: string): string {
  return `protoc --include_imports --descriptor_set_out=${path.replace(/\.proto$/, '.pb')} ${path}`;
}
